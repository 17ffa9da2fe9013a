package airtime

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Event is a verified webhook. Answer 2xx also to events that you do not know.
type Event struct {
	// ID is the same for every copy of an event: remember it to process each event once.
	ID   string
	Name string
	// Data is of the type that the event's name says, such as TransactionUpdatedData of transaction.updated. Do nothing
	// with a status that is neither "success" nor "failed": a later release may add some.
	Data json.RawMessage
}

// ErrWebhook is the error of a request that is not a webhook of the service: answer 400.
var ErrWebhook = errors.New("not a webhook of the service")

const tolerance = 300 * time.Second

// VerifyWebhook checks signature and age of a webhook. body is what was received, byte by byte; secret is whsec_....
func VerifyWebhook(headers http.Header, body []byte, secret string) (Event, error) {
	return verifyWebhook(headers, body, secret, time.Now())
}

func verifyWebhook(headers http.Header, body []byte, secret string, now time.Time) (Event, error) {
	id, timestamp := headers.Get("webhook-id"), headers.Get("webhook-timestamp")
	signatures := headers.Get("webhook-signature")
	if id == "" || timestamp == "" || signatures == "" {
		return Event{}, errors.Join(ErrWebhook, errors.New("a header is missing"))
	}
	if !regexp.MustCompile(`^\d{1,12}$`).MatchString(timestamp) {
		return Event{}, errors.Join(ErrWebhook, errors.New("the timestamp is no number of seconds"))
	}
	sentAt, _ := strconv.ParseInt(timestamp, 10, 64)
	if age := now.Sub(time.Unix(sentAt, 0)); age > tolerance || age < -tolerance {
		return Event{}, errors.Join(ErrWebhook, errors.New("the timestamp is not within 5 minutes of now"))
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(strings.TrimSpace(secret), "whsec_"))
	if err != nil || len(key) == 0 {
		return Event{}, errors.New("secret must be the endpoint's whsec_... secret")
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "." + timestamp + "."))
	mac.Write(body)
	expected := mac.Sum(nil)
	isSigned := false
	for _, signature := range strings.Split(signatures, " ") {
		text, isVersion1 := strings.CutPrefix(signature, "v1,")
		received, err := base64.StdEncoding.DecodeString(text)
		isSigned = isSigned || (isVersion1 && err == nil && hmac.Equal(received, expected))
	}
	if !isSigned {
		return Event{}, errors.Join(ErrWebhook, errors.New("no signature matches"))
	}
	var event struct {
		Event string          `json:"event"`
		Data  json.RawMessage `json:"data"`
	}
	if json.Unmarshal(body, &event) != nil || event.Event == "" || !strings.HasPrefix(string(event.Data), "{") {
		return Event{}, errors.Join(ErrWebhook, errors.New("the body is not an event"))
	}
	return Event{ID: id, Name: event.Event, Data: event.Data}, nil
}
