package airtime

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

type vectorAnswer struct {
	Name    string            `json:"name"`
	Status  int               `json:"status"`
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"`
	Next    string            `json:"next"`
	WaitS   int               `json:"wait_s"`
}

func readVectors(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile("../../client/vectors/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatal(err)
	}
}

type received struct{ path, body, confirmed string }

// serve answers each request by the next handler, and the rest by the last one. It returns what was received until now.
func serve(t *testing.T, handlers ...http.HandlerFunc) (*Client, func() []received) {
	t.Helper()
	var lock sync.Mutex
	requests := []received{}
	server := httptest.NewServer(http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
		body, _ := io.ReadAll(request.Body)
		lock.Lock()
		requests = append(requests, received{request.URL.Path, string(body), request.Header.Get("X-Confirm-Duplicate")})
		handler := handlers[min(len(requests), len(handlers))-1]
		lock.Unlock()
		handler(response, request)
	}))
	t.Cleanup(server.Close)
	client, err := New(server.URL+"/v1", "live_key")
	if err != nil {
		t.Fatal(err)
	}
	// Longer than a busy machine takes: the tests that wait for a deadline set their own.
	client.Timeout, client.AttemptTimeout = 5*time.Minute, 2*time.Minute
	return client, func() []received {
		lock.Lock()
		defer lock.Unlock()
		return slices.Clone(requests)
	}
}

func write(response http.ResponseWriter, answer vectorAnswer) {
	for name, value := range answer.Headers {
		response.Header().Set(name, value)
	}
	response.WriteHeader(answer.Status)
	_, _ = io.WriteString(response, answer.Body)
}

func resultOf(bought Purchase, err error) string {
	var unknown *OutcomeUnknownError
	var failed *ServiceError
	switch {
	case err == nil:
		return bought.Transaction.Status
	case errors.As(err, &unknown):
		return "unknown"
	case errors.As(err, &failed) && failed.TransactionReference != "":
		return "failed"
	}
	return err.Error()
}

var order = DataPurchaseRequest{NetworkID: 1, PlanID: 101, PhoneNumber: "08031234567"}

type vectorTable struct {
	Path                   string
	Order, Cancellation    map[string]any
	Replay                 vectorAnswer
	Answers, Cancellations []vectorAnswer
	Sequences              []struct {
		Name, End     string
		Answers, Sent []string
	}
}

// named returns the handler that writes an answer of the table.
func (v vectorTable) named(t *testing.T, name string) http.HandlerFunc {
	t.Helper()
	for _, answer := range slices.Concat(v.Answers, v.Cancellations) {
		if answer.Name == name {
			return func(response http.ResponseWriter, _ *http.Request) { write(response, answer) }
		}
	}
	t.Fatalf("the table has no answer %s", name)
	return nil
}

// serve answers with these answers of the table, one after the other.
func (v vectorTable) serve(t *testing.T, names []string) (*Client, func() []received) {
	t.Helper()
	handlers := []http.HandlerFunc{}
	for _, name := range names {
		handlers = append(handlers, v.named(t, name))
	}
	return serve(t, handlers...)
}

func TestFurtherAnswersAreFollowedByWhatTheTableSays(t *testing.T) {
	var vectors vectorTable
	readVectors(t, "answers.json", &vectors)
	for _, sequence := range vectors.Sequences {
		t.Run(sequence.Name, func(t *testing.T) {
			t.Parallel()
			client, requests := vectors.serve(t, sequence.Answers)
			if result := resultOf(client.BuyData(context.Background(), order, "order-1")); result != sequence.End {
				t.Errorf("the result is %s instead of %s", result, sequence.End)
			}
			vectors.isSent(t, sequence.Sent, requests())
		})
	}
}

// isSent checks that these requests of the table were sent, and no others.
func (v vectorTable) isSent(t *testing.T, expected []string, requests []received) {
	t.Helper()
	sent := []string{}
	for _, request := range requests {
		name := map[string]string{"/v1" + v.Path: "order", "/v1/transactions/cancel": "cancellation"}[request.path]
		var body map[string]any
		_ = json.Unmarshal([]byte(request.body), &body)
		if !reflect.DeepEqual(body, map[string]map[string]any{"order": v.Order, "cancellation": v.Cancellation}[name]) {
			t.Errorf("it sent %v", request)
		}
		sent = append(sent, name)
	}
	if !slices.Equal(sent, expected) {
		t.Errorf("it sent %v instead of %v", sent, expected)
	}
}

func TestEachAnswerIsFollowedByWhatTheTableSays(t *testing.T) {
	var vectors vectorTable
	readVectors(t, "answers.json", &vectors)
	results := map[string]string{"retry": "success", "cancel": "failed"}
	for _, vector := range vectors.Answers {
		t.Run(vector.Name, func(t *testing.T) {
			t.Parallel()
			after := func(response http.ResponseWriter, _ *http.Request) { write(response, vectors.Replay) }
			if vector.Next == "cancel" {
				after = vectors.named(t, "cancelled")
			}
			client, requests := serve(t, func(response http.ResponseWriter, _ *http.Request) { write(response, vector) }, after)
			startedAt := time.Now()
			result := resultOf(client.BuyData(context.Background(), order, "order-1"))
			expected := vector.Next
			if other, isOther := results[vector.Next]; isOther {
				expected = other
			}
			if result != expected {
				t.Errorf("the result is %s instead of %s", result, expected)
			}
			if time.Since(startedAt) < time.Duration(vector.WaitS)*time.Second {
				t.Errorf("it did not wait %d s", vector.WaitS)
			}
			sent := requests()
			var first map[string]any
			_ = json.Unmarshal([]byte(sent[0].body), &first)
			if sent[0].path != "/v1"+vectors.Path || first["reference"] != "order-1" || first["plan_id"] != 101.0 {
				t.Errorf("the order was sent as %v", sent[0])
			}
			following := map[string][]received{"retry": {sent[0]}, "cancel": {{"/v1/transactions/cancel", `{"reference":"order-1","type":"data"}`, ""}}}[vector.Next]
			if len(sent)-1 != len(following) || (len(following) == 1 && sent[1] != following[0]) {
				t.Errorf("then it sent %v", sent[1:])
			}
		})
	}
}

func TestAnOrderLikeAnotherIsRefusedWithItsReferenceAndTakenWhenConfirmed(t *testing.T) {
	const cancelled = `{"status":true,"data":{"transaction":{"reference":"DATA_1","caller_reference":"order-1","status":"failed","error_code":"order_cancelled"}}}`
	const bought = `{"status":true,"data":{"transaction":{"reference":"DATA_2","caller_reference":"order-2","status":"success","type":"data"}}}`
	refuse := func(response http.ResponseWriter, _ *http.Request) {
		refusal := map[string]string{"X-Error-Code": "possible_duplicate", "X-Duplicate-Of": "DATA_0"}
		write(response, vectorAnswer{Status: 422, Headers: refusal, Body: "{}"})
	}
	client, requests := serve(t, refuse, func(response http.ResponseWriter, request *http.Request) {
		body := bought
		if strings.HasSuffix(request.URL.Path, "/cancel") {
			body = cancelled
		}
		write(response, vectorAnswer{Status: 200, Body: body})
	})
	_, err := client.BuyData(context.Background(), order, "order-1")
	var refusal *ServiceError
	if !errors.As(err, &refusal) || refusal.DuplicateOf != "DATA_0" || requests()[0].confirmed != "" {
		t.Fatalf("the refusal is %v", err)
	}
	if _, err = client.BuyData(context.Background(), order, "order-2", ConfirmDuplicate()); err != nil {
		t.Fatal(err)
	}
	if last := requests()[len(requests())-1]; last.confirmed != "true" {
		t.Errorf("the confirmed order was sent as %v", last)
	}
}

func TestAttemptsAreLoggedWithoutPersonalData(t *testing.T) {
	t.Parallel()
	const bought = `{"transaction":{"reference":"DATA_1","caller_reference":"order-1","status":"success","type":"data","phone_number":"08031234567"}}`
	refuse := func(response http.ResponseWriter, _ *http.Request) {
		refusal := map[string]string{"X-Error-Code": "internal_error"}
		write(response, vectorAnswer{Status: 500, Headers: refusal, Body: `{"message":"08031234567"}`})
	}
	client, _ := serve(t, refuse, cutConnection, answering(bought))
	var logged strings.Builder
	client.Logger = slog.New(slog.NewTextHandler(&logged, nil))
	if result := resultOf(client.BuyData(context.Background(), order, "order-1")); result != "success" {
		t.Fatal(result)
	}
	lines := strings.Split(strings.TrimSpace(logged.String()), "\n")
	for i, result := range []string{"result=internal_error reference=order-1 again_in=", `EOF" reference=order-1 again_in=`, "result=answered reference=order-1"} {
		if want := fmt.Sprintf("path=/vtu/data/purchase attempt=%d ", i+1); len(lines) != 3 || !strings.Contains(lines[i], want) || !strings.Contains(lines[i], result) {
			t.Fatalf("no %q in %v", want+result, lines)
		}
	}
	if strings.Contains(logged.String(), "0803") || strings.Contains(logged.String(), "live_") {
		t.Error(logged.String())
	}
}

func cutConnection(response http.ResponseWriter, _ *http.Request) {
	connection, _, _ := response.(http.Hijacker).Hijack()
	connection.Close()
}

func TestAnOrderWhoseConnectionIsCutIsSentAgain(t *testing.T) {
	t.Parallel()
	var table vectorTable
	readVectors(t, "answers.json", &table)
	client, requests := serve(t, cutConnection, func(response http.ResponseWriter, _ *http.Request) { write(response, table.Replay) })
	if result := resultOf(client.BuyData(context.Background(), order, "order-1")); result != "success" || len(requests()) != 2 {
		t.Errorf("%s after %d requests", result, len(requests()))
	}
}

func TestAnOrderWhoseConnectionsAreCutIsUnknownAtTheDeadline(t *testing.T) {
	t.Parallel()
	client, _ := serve(t, cutConnection)
	client.Timeout = 2 * time.Second
	_, err := client.BuyData(context.Background(), order, "order-1")
	var unknown *OutcomeUnknownError
	if !errors.As(err, &unknown) || unknown.Reference != "order-1" {
		t.Error(err)
	}
}

func TestAnAnswerWithAnotherProtocolIsNone(t *testing.T) {
	t.Parallel()
	var table vectorTable
	readVectors(t, "answers.json", &table)
	client, requests := serve(t,
		func(response http.ResponseWriter, _ *http.Request) {
			connection, _, _ := response.(http.Hijacker).Hijack()
			_, _ = io.WriteString(connection, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")
			// A client that reads what follows ends then, after its deadline.
			time.AfterFunc(90*time.Second, func() { connection.Close() })
		},
		func(response http.ResponseWriter, _ *http.Request) { write(response, table.Replay) })
	client.Timeout = time.Minute
	if result := resultOf(client.BuyData(context.Background(), order, "order-1")); result != "success" || len(requests()) != 2 {
		t.Errorf("%s after %d requests", result, len(requests()))
	}
}

func TestAnAnswerThatComesTooLateIsNone(t *testing.T) {
	t.Parallel()
	var table vectorTable
	readVectors(t, "answers.json", &table)
	client, requests := serve(t,
		func(_ http.ResponseWriter, request *http.Request) { <-request.Context().Done() },
		func(response http.ResponseWriter, _ *http.Request) { write(response, table.Replay) })
	// On a busy machine a later attempt may be over before its answer too.
	client.AttemptTimeout = 2 * time.Second
	if result := resultOf(client.BuyData(context.Background(), order, "order-1")); result != "success" || len(requests()) < 2 {
		t.Errorf("%s after %d requests", result, len(requests()))
	}
}

func TestARefusalThatDecidesNothingIsFoundOnlyAsTheCause(t *testing.T) {
	refuse := func(response http.ResponseWriter, _ *http.Request) {
		write(response, vectorAnswer{Status: 403, Headers: map[string]string{"x-error-code": "permission_denied"}})
	}
	client, requests := serve(t, refuse, refuse)
	_, bought := client.BuyData(context.Background(), order, "order-1")
	_, waited := client.Wait(context.Background(), "order-1")
	var unknown *OutcomeUnknownError
	var refusal *ServiceError
	if errors.As(bought, &refusal) || errors.As(waited, &refusal) {
		t.Errorf("an order that is not decided is taken for one that failed: %v, %v", bought, waited)
	}
	if !errors.As(bought, &unknown) || !errors.As(unknown.Cause, &refusal) || refusal.Code != "permission_denied" {
		t.Errorf("the cause is not the refusal: %v", bought)
	}
	if len(requests()) != 2 || !strings.Contains(waited.Error(), "permission_denied") {
		t.Errorf("Wait ended with %v after %d requests", waited, len(requests())-1)
	}
}

func TestARefusalSaysWhenToSendAgainAndHasItsIDForSupport(t *testing.T) {
	client, _ := serve(t, func(response http.ResponseWriter, _ *http.Request) {
		headers := map[string]string{"x-error-code": "provider_unavailable", "x-request-id": "req-1", "retry-after": "300"}
		write(response, vectorAnswer{Status: 503, Headers: headers})
	})
	_, err := client.BuyData(context.Background(), order, "order-1")
	var unknown *OutcomeUnknownError
	var refusal *ServiceError
	if !errors.As(err, &unknown) || !errors.As(unknown.Cause, &refusal) {
		t.Fatalf("the error is %v", err)
	}
	if refusal.RequestID != "req-1" || refusal.RetryAfter == nil || *refusal.RetryAfter != 5*time.Minute {
		t.Errorf("the refusal is %+v", *refusal)
	}
}

func TestAPastDateInRetryAfterIsNoNegativeWait(t *testing.T) {
	if wait := secondsIn("Wed, 21 Oct 2015 07:28:00 GMT"); wait == nil || *wait != 0 {
		t.Errorf("the wait is %v", wait)
	}
}

func TestTheErrorOfAContextThatEndsIsFound(t *testing.T) {
	t.Parallel()
	hang := func(_ http.ResponseWriter, request *http.Request) { <-request.Context().Done() }
	client, _ := serve(t, hang)
	started := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	_, bought := client.BuyData(ctx, order, "order-1")
	_, waited := client.Wait(ctx, "order-1")
	if !errors.Is(bought, context.DeadlineExceeded) || !errors.Is(waited, context.DeadlineExceeded) {
		t.Errorf("%v, %v", bought, waited)
	}
	if time.Since(started) > client.AttemptTimeout {
		t.Error("it waited for the attempt's end, which has the same error")
	}
}

// endOfBody calls its function once an answer is read.
type endOfBody struct {
	io.ReadCloser
	onEnd func()
}

func (b endOfBody) Close() error {
	b.onEnd()
	return b.ReadCloser.Close()
}

type transportFunc func(*http.Request) (*http.Response, error)

func (f transportFunc) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

func TestTheErrorOfAContextThatEndsBetweenTwoAttemptsIsFound(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	client, requests := serve(t, func(response http.ResponseWriter, _ *http.Request) {
		headers := map[string]string{"x-error-code": "rate_limited", "retry-after": "60"}
		write(response, vectorAnswer{Status: 429, Headers: headers})
	})
	client.http.Transport = transportFunc(func(request *http.Request) (*http.Response, error) {
		response, err := http.DefaultTransport.RoundTrip(request)
		if err == nil {
			response.Body = endOfBody{response.Body, func() { time.AfterFunc(200*time.Millisecond, cancel) }}
		}
		return response, err
	})
	_, bought := client.BuyData(ctx, order, "order-1")
	var unknown *OutcomeUnknownError
	var refusal *ServiceError
	if !errors.Is(bought, context.Canceled) || !errors.As(bought, &unknown) || errors.As(bought, &refusal) {
		t.Fatalf("%v after %d requests", bought, len(requests()))
	}
	if !errors.As(unknown.Cause, &refusal) || refusal.Code != "rate_limited" {
		t.Errorf("the cause is %v", unknown.Cause)
	}
}

func TestWaitLooksUpAgainWhatIsNotFoundOrNotFinal(t *testing.T) {
	t.Parallel()
	client, requests := serve(t,
		func(response http.ResponseWriter, _ *http.Request) {
			write(response, vectorAnswer{Status: 404, Headers: map[string]string{"x-error-code": "not_found"}})
		},
		func(response http.ResponseWriter, _ *http.Request) {
			write(response, vectorAnswer{Status: 200, Body: `{"status":true,"data":{"transaction":{"reference":"DATA_1","status":"success"}}}`})
		})
	found, err := client.Wait(context.Background(), "DATA_1")
	if err != nil || found.Status != "success" || len(requests()) != 2 {
		t.Errorf("%v %v after %d requests", found, err, len(requests()))
	}
}

func answering(body string, headers ...string) http.HandlerFunc {
	return func(response http.ResponseWriter, _ *http.Request) {
		named := map[string]string{}
		for i := 0; i < len(headers); i += 2 {
			named[headers[i]] = headers[i+1]
		}
		write(response, vectorAnswer{Status: 200, Headers: named, Body: `{"status":true,"data":` + body + `}`})
	}
}

const verified = `{"transaction":{"reference":"VERIFY_1","status":"success","type":"nin_verification","caller_reference":"check-1"},"result":{"first_name":"ADA"}}`
const unchecked = `{"transaction":{"reference":"VERIFY_1","status":"processing","type":"nin_verification","caller_reference":"check-1"},"result":null}`

func TestACheckEndsAsTheTableSays(t *testing.T) {
	var vectors vectorTable
	readVectors(t, "checks.json", &vectors)
	for _, sequence := range vectors.Sequences {
		t.Run(sequence.Name, func(t *testing.T) {
			t.Parallel()
			client, requests := vectors.serve(t, sequence.Answers)
			check, err := client.VerifyNin(context.Background(), NinVerifyRequest{Nin: "12345678901", IsConsent: true}, "check-1")
			end := resultOf(Purchase{Transaction: PurchasedTransaction{Status: check.Transaction.Status}}, err)
			if end == "success" {
				end = "found"
			}
			var person NinBasicResult
			if end == "found" || end == "processing" {
				if err := json.Unmarshal(*check.Result, &person); err != nil || person.FirstName != "ADAEZE" {
					t.Errorf("the person is %+v %v", person, err)
				}
			}
			if end != sequence.End {
				t.Errorf("the end is %s instead of %s", end, sequence.End)
			}
			vectors.isSent(t, sequence.Sent, requests())
		})
	}
}

func TestACheckWithoutAResultUntilTheDeadlineIsProcessing(t *testing.T) {
	t.Parallel()
	for name, last := range map[string]http.HandlerFunc{"processing": answering(unchecked), "no answer": cutConnection} {
		client, _ := serve(t, answering(unchecked), last)
		client.Timeout = 3 * time.Second
		check, err := client.VerifyNin(context.Background(), NinVerifyRequest{Nin: "12345678901", IsConsent: true}, "check-1")
		if err != nil || check.Transaction.Status != "processing" || check.Result != nil {
			t.Errorf("%s: %+v %v", name, check, err)
		}
	}
}

func TestEachCheckIsSentToItsPathAndTakesOnlyItsTypeForTheAnswer(t *testing.T) {
	ctx, request := context.Background(), RetrieveRequest{PhoneNumber: "08031234567", IsConsent: true}
	for _, each := range []struct {
		kind, path string
		send       func(*Client) (IdentityTransaction, error)
	}{
		{"bvn_verification", "/v1/identity/bvn/verify", func(c *Client) (IdentityTransaction, error) {
			check, err := c.VerifyBvn(ctx, BvnVerifyRequest{Bvn: "12345678901", IsConsent: true}, "check-1")
			return check.Transaction, err
		}},
		{"nin_retrieval", "/v1/identity/nin/retrieve", func(c *Client) (IdentityTransaction, error) {
			check, err := c.RetrieveNin(ctx, request, "check-1")
			return check.Transaction, err
		}},
		{"bvn_retrieval", "/v1/identity/bvn/retrieve", func(c *Client) (IdentityTransaction, error) {
			check, err := c.RetrieveBvn(ctx, request, "check-1")
			return check.Transaction, err
		}},
	} {
		t.Run(each.kind, func(t *testing.T) {
			t.Parallel()
			client, requests := serve(t, answering(verified), answering(strings.Replace(verified, "nin_verification", each.kind, 1)))
			if check, err := each.send(client); err != nil || check.Type != each.kind {
				t.Errorf("%+v %v", check, err)
			}
			if sent := requests(); len(sent) != 2 || sent[0].path != each.path {
				t.Errorf("it sent %v", sent)
			}
		})
	}
}

func TestAnOrderSaysForHowLongItWaitsAndWhetherItIsAReplay(t *testing.T) {
	const waiting = `{"transaction":{"reference":"DATA_1","caller_reference":"order-1","status":"processing","type":"data"}}`
	client, _ := serve(t, answering(waiting, "X-Estimated-Delivery", "61"), answering(waiting, "Idempotent-Replayed", "true"))
	bought, err := client.BuyData(context.Background(), order, "order-1")
	if err != nil || bought.Replayed || bought.EstimatedDeliveryS == nil || *bought.EstimatedDeliveryS != 61 {
		t.Errorf("%+v %v", bought, err)
	}
	replay, err := client.BuyData(context.Background(), order, "order-1")
	if err != nil || !replay.Replayed || replay.EstimatedDeliveryS != nil {
		t.Errorf("%+v %v", replay, err)
	}
}

func TestAPageIsAskedForByTheQueryAndOneOfOthersIsNone(t *testing.T) {
	t.Parallel()
	const listed = `{"transactions":[{"reference":"DATA_1","status":"failed","type":"data"}],"next_cursor":`
	for name, odd := range map[string]string{
		"another status":     strings.Replace(listed, "failed", "success", 1) + "null}",
		"the other mode":     strings.Replace(listed, "DATA_1", "TEST_1", 1) + "null}",
		"itself as the next": listed + `"c+1"}`,
		"no list":            "{}",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked := ""
			client, _ := serve(t, answering(odd), func(response http.ResponseWriter, request *http.Request) {
				asked = request.URL.RawQuery
				answering(listed+`"c2"}`)(response, request)
			})
			page, err := client.Transactions(context.Background(), TransactionQuery{Status: "failed", From: "2026-11-21T00:00:00+01:00", Cursor: "c+1"})
			if err != nil || len(page.Transactions) != 1 || page.NextCursor == nil || *page.NextCursor != "c2" {
				t.Errorf("%+v %v", page, err)
			}
			if asked != "cursor=c%2B1&from=2026-11-21T00%3A00%3A00%2B01%3A00&status=failed" {
				t.Error(asked)
			}
		})
	}
}

func TestCatalogAndWalletAreRead(t *testing.T) {
	t.Parallel()
	client, requests := serve(t, answering("{}"), answering(`{"networks":[],"data_plans":[{"id":101,"price":485.5}]}`),
		answering("{}"), answering(`{"wallet":{"currency":"NGN","balance":0.07}}`))
	catalog, err := client.Catalog(context.Background())
	if err != nil || len(catalog.DataPlans) != 1 || catalog.DataPlans[0].Price != "485.5" {
		t.Errorf("%+v %v", catalog, err)
	}
	wallet, err := client.Wallet(context.Background())
	if err != nil || wallet.Balance != "0.07" {
		t.Errorf("%+v %v", wallet, err)
	}
	if sent := requests(); len(sent) != 4 || sent[0].path != "/v1/vtu/data" || sent[3].path != "/v1/wallet" {
		t.Errorf("it sent %v", sent)
	}
}

func TestANewReferenceIsOneAndHasNoDigits(t *testing.T) {
	reference := NewReference()
	if !regexp.MustCompile("^[a-p]{32}$").MatchString(reference) || reference == NewReference() {
		t.Error(reference)
	}
}

func TestAReferenceThatCannotBeOneIsNotSent(t *testing.T) {
	refuse := func(response http.ResponseWriter, _ *http.Request) {
		write(response, vectorAnswer{Status: 200, Body: "{}"})
	}
	client, requests := serve(t, refuse, refuse)
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	for _, reference := range []string{"", ".", "..", "a b", "a/b"} {
		_, bought := client.BuyData(ctx, order, reference)
		_, found := client.Transaction(ctx, reference)
		_, waited := client.Wait(ctx, reference)
		_, cancelled := client.Cancel(ctx, reference, "data")
		_, verified := client.VerifyNin(ctx, NinVerifyRequest{}, reference)
		for _, err := range []error{bought, found, waited, cancelled, verified} {
			if err == nil || !strings.HasPrefix(err.Error(), "reference must be") {
				t.Errorf("%q: %v", reference, err)
			}
		}
	}
	if len(requests()) != 0 {
		t.Errorf("%d requests were sent", len(requests()))
	}
}

func TestAnAnswerThatIsTooLongIsNone(t *testing.T) {
	t.Parallel()
	var table struct{ Replay vectorAnswer }
	readVectors(t, "answers.json", &table)
	encoding := ""
	client, requests := serve(t,
		func(response http.ResponseWriter, request *http.Request) {
			encoding = request.Header.Get("Accept-Encoding")
			write(response, vectorAnswer{Status: 200, Body: table.Replay.Body + strings.Repeat(" ", 8_000_000)})
		},
		func(response http.ResponseWriter, _ *http.Request) { write(response, table.Replay) })
	if result := resultOf(client.BuyData(context.Background(), order, "order-1")); result != "success" || len(requests()) != 2 || encoding != "identity" {
		t.Errorf("%s after %d requests, with the encoding %s", result, len(requests()), encoding)
	}
}

func TestAWebhookIsJudgedAsItsVectorSays(t *testing.T) {
	var vectors struct {
		Cases []struct {
			Name, Secret, Body, Event string
			Reason                    string
			ID, Timestamp, Signature  *string
			Now                       int64
			Valid                     bool
		}
	}
	readVectors(t, "webhooks.json", &vectors)
	for _, vector := range vectors.Cases {
		t.Run(vector.Name, func(t *testing.T) {
			headers := http.Header{}
			for name, value := range map[string]*string{"webhook-id": vector.ID, "webhook-timestamp": vector.Timestamp, "webhook-signature": vector.Signature} {
				if value != nil {
					headers.Set(name, *value)
				}
			}
			event, err := verifyWebhook(headers, []byte(vector.Body), vector.Secret, time.Unix(vector.Now, 0))
			if vector.Valid && (err != nil || event.Name != vector.Event || event.ID != *vector.ID) {
				t.Errorf("%v %v", event, err)
			}
			if !vector.Valid && (err == nil || errors.Is(err, ErrWebhook) == (vector.Reason == "secret")) {
				t.Errorf("it is accepted, or refused with %v", err)
			}
		})
	}
}

func TestSettingsAreTakenOrRefusedWithoutShowingTheKey(t *testing.T) {
	var vectors struct {
		Cases []struct {
			BaseURL string `json:"base_url"`
			APIKey  string `json:"api_key"`
			Refused string
		}
	}
	readVectors(t, "settings.json", &vectors)
	beginnings := map[string]string{"base_url": "baseURL ", "api_key": "apiKey "}
	for _, vector := range vectors.Cases {
		client, err := New(vector.BaseURL, vector.APIKey)
		if vector.Refused == "" && err != nil {
			t.Errorf("%+v is refused: %v", vector, err)
		}
		if shown := fmt.Sprintf("%+v %#v", client, client); vector.Refused == "" && strings.Contains(shown, vector.APIKey) {
			t.Errorf("the key is shown: %s", shown)
		}
		if vector.Refused == "" {
			continue
		}
		if err == nil || !strings.HasPrefix(err.Error(), beginnings[vector.Refused]) || strings.Contains(err.Error(), "@") {
			t.Errorf("%+v: %v", vector, err)
		} else if vector.APIKey != "" && strings.Contains(err.Error(), vector.APIKey) {
			t.Errorf("the key is shown: %v", err)
		}
	}
}

// TestTheReadmeBuys compiles the README's example in a module of its own, and has it place an order.
func TestTheReadmeBuys(t *testing.T) {
	t.Parallel()
	var vectors vectorTable
	readVectors(t, "answers.json", &vectors)
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	example := regexp.MustCompile("(?s)```go\n(.*?)```").FindSubmatch(readme)
	client, requests := serve(t, vectors.named(t, "200 processing"), func(response http.ResponseWriter, _ *http.Request) {
		write(response, vectors.Replay)
	})
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":  "module shop\ngo 1.25\nrequire airtime v0.0.0\nreplace airtime => " + here + "\n",
		"shop.go": strings.ReplaceAll(string(example[1]), "http://127.0.0.1:4010/v1", client.baseURL),
		"shop_test.go": `package shop

import (
	"context"
	"testing"
)

func TestPlace(t *testing.T) {
	client, err := connect()
	if err != nil {
		t.Fatal(err)
	}
	if state, err := place(context.Background(), client, "order-1"); err != nil || state != "delivered" {
		t.Fatal(state, err)
	}
}
`,
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := exec.Command("go", "test", "./...")
	run.Dir = folder
	run.Env = append(os.Environ(), "AIRTIME_API_KEY=live_key", "GOWORK=off")
	if printed, err := run.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, printed)
	}
	if paths := requests(); len(paths) != 2 || paths[0].path != "/v1"+vectors.Path || paths[1].path != "/v1/transactions/order-1" {
		t.Fatal(paths)
	}
}
