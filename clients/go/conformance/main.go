// The adapter of the Go client for the conformance kit (docs/conformance.md).
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"strconv"
	"sync"
	"time"

	"airtime"
)

type command struct {
	ID          string      `json:"id"`
	Kind        string      `json:"kind"`
	Reference   string      `json:"reference"`
	Network     string      `json:"network"`
	Amount      json.Number `json:"amount"`
	NetworkID   int64       `json:"network_id"`
	PlanID      int64       `json:"plan_id"`
	PhoneNumber string      `json:"phone_number"`
}

type answer struct {
	ID        string `json:"id"`
	Result    string `json:"result"`
	Reference string `json:"reference,omitempty"`
	Error     string `json:"error,omitempty"`
}

func main() {
	client, err := airtime.New(os.Getenv("AIRTIME_BASE_URL"), os.Getenv("AIRTIME_API_KEY"))
	if err != nil {
		log.Fatal(err)
	}
	client.Timeout = milliseconds("AIRTIME_TIMEOUT_MS")
	client.AttemptTimeout = milliseconds("AIRTIME_ATTEMPT_TIMEOUT_MS")
	var output sync.Mutex
	var open sync.WaitGroup
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		var order command
		if err := json.Unmarshal(lines.Bytes(), &order); err != nil {
			log.Fatal(err)
		}
		open.Go(func() {
			line, _ := json.Marshal(buy(client, order))
			output.Lock()
			defer output.Unlock()
			fmt.Println(string(line))
		})
	}
	open.Wait()
}

func milliseconds(name string) time.Duration {
	number, err := strconv.Atoi(os.Getenv(name))
	if err != nil {
		log.Fatalf("%s: %v", name, err)
	}
	return time.Duration(number) * time.Millisecond
}

func buy(client *airtime.Client, order command) answer {
	bought, err := place(client, order)
	var failed *airtime.ServiceError
	var unknown *airtime.OutcomeUnknownError
	switch {
	case err == nil:
		return answer{ID: order.ID, Result: bought.Transaction.Status, Reference: bought.Transaction.Reference}
	case errors.As(err, &unknown):
		return answer{ID: order.ID, Result: "unknown", Error: err.Error()}
	case errors.As(err, &failed):
		return answer{ID: order.ID, Result: "failed", Reference: failed.TransactionReference, Error: failed.Code}
	}
	log.Fatal(err)
	return answer{}
}

func place(client *airtime.Client, order command) (airtime.Purchase, error) {
	ctx := context.Background()
	if order.Kind == "data" {
		bundle := airtime.DataPurchaseRequest{NetworkID: order.NetworkID, PlanID: order.PlanID, PhoneNumber: order.PhoneNumber}
		return client.BuyData(ctx, bundle, order.Reference)
	}
	topUp := airtime.AirtimePurchaseRequest{Network: order.Network, PhoneNumber: order.PhoneNumber, Amount: order.Amount}
	return client.BuyAirtime(ctx, topUp, order.Reference)
}
