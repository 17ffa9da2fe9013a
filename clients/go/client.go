// Package airtime buys airtime and data bundles through the Airtime, Data and Identity Service. Each order has one
// reference, and each attempt to place it has the same: it is charged and delivered at most once.
package airtime

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Client is a client of the service. One for each API key is enough for a process.
type Client struct {
	baseURL string
	// apiKey returns the key. A log that prints a client shows the text of a field, but not what a function returns.
	apiKey func() string
	// Timeout is the deadline of a call with all its attempts and waits. 90 s unless set.
	Timeout time.Duration
	// AttemptTimeout is the longest that one attempt may take. 35 s unless set; the service answers within 30 s.
	AttemptTimeout time.Duration
	http           *http.Client
}

// ServiceError is an answer of the service with X-Error-Code. An order that returns it has failed for good: it was
// refunded, or cancelled before it was placed. Another attempt needs a new reference.
type ServiceError struct {
	Code                 string
	Status               int
	Message              string
	TransactionReference string
	// DuplicateOf is the reference of the order that this one is like, if it was refused as possible_duplicate.
	DuplicateOf string
	// Fields has messages by request field.
	Fields map[string][]string
	// RetryAfter is the time after which the same request may be sent again; nil if the answer names none.
	RetryAfter *time.Duration
	// RequestID is for the service's support.
	RequestID string
}

func (e *ServiceError) Error() string { return fmt.Sprintf("%s: %s", e.Code, e.Message) }

// OutcomeUnknownError says that an order is not decided: it was placed, or still may be. Send the same order with the
// same reference again, or cancel it. Never order again with another reference.
type OutcomeUnknownError struct {
	Reference string
	// Cause is the last refusal or lost answer. It decides nothing, so errors.As does not find it.
	Cause error
}

func (e *OutcomeUnknownError) Error() string {
	return fmt.Sprintf("the order %s is not decided: %v", e.Reference, e.Cause)
}

// Unwrap finds only that a context ended: a ServiceError would be taken for an order that has failed for good.
func (e *OutcomeUnknownError) Unwrap() error {
	for _, ended := range []error{context.Canceled, context.DeadlineExceeded} {
		if errors.Is(e.Cause, ended) {
			return ended
		}
	}
	return nil
}

// NoAnswerError says that there was no answer of the service, or none about this order.
type NoAnswerError struct {
	Status int
	Cause  error
	// RequestID is for the service's support; empty if the answer has none.
	RequestID  string
	isMismatch bool
	retryAfter *time.Duration
}

func (e *NoAnswerError) Error() string {
	return fmt.Sprintf("no answer of the service (status %d): %v", e.Status, e.Cause)
}
func (e *NoAnswerError) Unwrap() error { return e.Cause }

// New makes a client. baseURL ends with /v1, and is https except on this machine.
func New(baseURL, apiKey string) (*Client, error) {
	parsed, err := url.Parse(strings.TrimSpace(baseURL))
	if err != nil || parsed.Host == "" || !strings.HasSuffix(strings.TrimRight(parsed.Path, "/"), "/v1") || strings.ContainsAny(baseURL, "?#") {
		return nil, errors.New("baseURL must be a URL that ends with /v1")
	}
	if parsed.User != nil {
		return nil, errors.New("baseURL must not have a user: requests carry the API key instead")
	}
	isLocal := parsed.Scheme == "http" && regexp.MustCompile(`^(localhost|127\.[\d.]+|::1)$`).MatchString(parsed.Hostname())
	if parsed.Scheme != "https" && !isLocal {
		return nil, errors.New("baseURL must be https, because requests carry the API key")
	}
	if !regexp.MustCompile(`^(live|test)_[\w-]+$`).MatchString(apiKey) {
		return nil, errors.New("apiKey must be a key of the service: live_... or test_...")
	}
	return &Client{
		baseURL:        strings.TrimRight(parsed.String(), "/"),
		apiKey:         func() string { return apiKey },
		Timeout:        90 * time.Second,
		AttemptTimeout: 35 * time.Second,
		http: &http.Client{
			// A redirect would send the key elsewhere, and may turn an order into a GET.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}, nil
}

// PurchaseOption is an option of one purchase.
type PurchaseOption func(header http.Header)

// ConfirmDuplicate says that an order is meant besides another like it, after a refusal as possible_duplicate.
func ConfirmDuplicate() PurchaseOption {
	return func(header http.Header) { header.Set("X-Confirm-Duplicate", "true") }
}

// BuyData buys a data bundle. reference is your own id of the order: save it before, and use it again for the same
// order. A transaction that is "processing" is paid: wait for it, and never order again.
func (c *Client) BuyData(ctx context.Context, order DataPurchaseRequest, reference string, options ...PurchaseOption) (PurchasedTransaction, error) {
	body := struct {
		DataPurchaseRequest
		Reference string `json:"reference"`
	}{order, reference}
	return c.place(ctx, "data", body, order.PhoneNumber, reference, options)
}

// BuyAirtime buys airtime, as BuyData does.
func (c *Client) BuyAirtime(ctx context.Context, order AirtimePurchaseRequest, reference string, options ...PurchaseOption) (PurchasedTransaction, error) {
	body := struct {
		AirtimePurchaseRequest
		Reference string `json:"reference"`
	}{order, reference}
	return c.place(ctx, "airtime", body, order.PhoneNumber, reference, options)
}

// Cancel makes sure that no request places the order from now on: "failed" if it was not placed or failed before, else
// the transaction as it is. kind is the order's type, such as "data".
func (c *Client) Cancel(ctx context.Context, kind, reference string) (Transaction, error) {
	if err := check(reference); err != nil {
		return Transaction{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	return c.cancel(ctx, kind, reference)
}

// Transaction looks a transaction up, by the service's reference or yours.
func (c *Client) Transaction(ctx context.Context, reference string) (Transaction, error) {
	if err := check(reference); err != nil {
		return Transaction{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	isNamed := func(t Transaction) bool {
		return t.Reference == reference || (t.CallerReference != nil && *t.CallerReference == reference)
	}
	return send(ctx, c, call[Transaction]{
		method: http.MethodGet,
		path:   "/transactions/" + url.PathEscape(reference),
		isAnswer: func(t Transaction) bool {
			return isNamed(t) && c.isOurs(t.Reference, t.Status)
		},
	})
}

// Wait looks a transaction up until its status is final, ctx ends or the lookup is refused for good, as without a valid
// key. Its error says nothing about the order: errors.As finds no ServiceError in it.
func (c *Client) Wait(ctx context.Context, reference string) (Transaction, error) {
	if err := check(reference); err != nil {
		return Transaction{}, err
	}
	for poll := time.Second; ; poll = min(poll*3/2, 10*time.Second) {
		found, err := c.Transaction(ctx, reference)
		if err == nil && found.Status != "processing" {
			return found, nil
		}
		if !mayBeFound(err) {
			return found, fmt.Errorf("the transaction %s cannot be looked up: %v", reference, err)
		}
		if !sleep(ctx, jittered(poll)) {
			return found, fmt.Errorf("the transaction %s is not final yet: %w (%v)", reference, ctx.Err(), err)
		}
	}
}

// mayBeFound says whether a later lookup may find a transaction: its request may still be under way.
func mayBeFound(err error) bool {
	var refusal *ServiceError
	return !errors.As(err, &refusal) || refusal.Code == "not_found" || refusal.RetryAfter != nil || refusal.Status >= 500
}

// check refuses what cannot be a reference. In the path of a lookup, an empty one would be the list, and a URL takes . and
// .. for folders.
func check(reference string) error {
	if !regexp.MustCompile(`^[\w.:-]{1,100}$`).MatchString(reference) || reference == "." || reference == ".." {
		return errors.New("reference must be 1 to 100 of the characters A-Z a-z 0-9 . _ : - and not . or ..")
	}
	return nil
}

// lastStep is the time for a cancellation whose order was refused at the deadline.
const lastStep = time.Second

func (c *Client) place(ctx context.Context, kind string, order any, phone, reference string, options []PurchaseOption) (PurchasedTransaction, error) {
	if err := check(reference); err != nil {
		return PurchasedTransaction{}, err
	}
	body, err := json.Marshal(order)
	if err != nil {
		return PurchasedTransaction{}, err
	}
	isOf := func(t PurchasedTransaction) bool {
		shown := ""
		if t.PhoneNumber != nil {
			shown = strings.TrimLeft(*t.PhoneNumber, "*")
		}
		return t.CallerReference != nil && *t.CallerReference == reference && t.Type == kind &&
			strings.HasSuffix(phone, shown) && c.isOurs(t.Reference, t.Status)
	}
	purchase := call[PurchasedTransaction]{
		method: http.MethodPost, path: "/vtu/" + kind + "/purchase", header: http.Header{}, body: body, reference: reference, isAnswer: isOf,
	}
	for _, set := range options {
		set(purchase.header)
	}
	deadline := time.Now().Add(c.Timeout)
	inTime, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	bought, err := send(inTime, c, purchase)
	refusal := (*ServiceError)(nil)
	if err == nil {
		return bought, nil
	}
	if errors.As(err, &refusal) && refusal.TransactionReference != "" {
		return bought, refusal
	}
	unknown := &OutcomeUnknownError{Reference: reference, Cause: err}
	if refusal == nil || !isLasting(refusal) {
		return bought, unknown
	}
	// A copy of the refused request can still be carried out, for example once the wallet is funded. So it is cancelled.
	lastTime, cancelLast := context.WithDeadline(ctx, later(deadline, time.Now().Add(lastStep)))
	defer cancelLast()
	found, err := c.cancel(lastTime, kind, reference)
	if err != nil {
		return bought, unknown
	}
	if found.ErrorCode != nil && *found.ErrorCode == "order_cancelled" {
		refusal.TransactionReference = found.Reference
		return bought, refusal
	}
	// Another request than the refused one placed the order: a replay is its answer.
	bought, err = send(lastTime, c, purchase)
	if errors.As(err, &refusal) && refusal.TransactionReference != "" {
		return bought, refusal
	}
	if err != nil {
		return bought, &OutcomeUnknownError{Reference: reference, Cause: err}
	}
	return bought, nil
}

func (c *Client) cancel(ctx context.Context, kind, reference string) (Transaction, error) {
	body, err := json.Marshal(CancelRequest{Reference: reference, Type: kind})
	if err != nil {
		return Transaction{}, err
	}
	return send(ctx, c, call[Transaction]{
		method: http.MethodPost,
		path:   "/transactions/cancel",
		body:   body,
		isAnswer: func(t Transaction) bool {
			return t.CallerReference != nil && *t.CallerReference == reference && c.isOurs(t.Reference, t.Status)
		},
	})
}

// isOurs says whether a transaction is of the key's mode and has a status that this release knows.
func (c *Client) isOurs(reference, status string) bool {
	isKnown := status == "processing" || status == "success" || status == "failed"
	return isKnown && reference != "" && c.isOfMode(reference)
}

// isOfMode says whether a transaction is of the key's mode: the status of a simulated one says nothing about a live order.
func (c *Client) isOfMode(reference string) bool {
	return strings.HasPrefix(reference, "TEST_") == strings.HasPrefix(c.apiKey(), "test_")
}

// isLasting says whether the same order would be refused again. One of the reference is left to the caller.
func isLasting(e *ServiceError) bool {
	_, isOfReference := e.Fields["reference"]
	return (e.Status == 400 || e.Status == 422) && e.Code != "reference_reused" && !isOfReference
}

func later(one, other time.Time) time.Time {
	if one.After(other) {
		return one
	}
	return other
}

// call is a request, and what tells its answer from others.
type call[T any] struct {
	method, path string
	header       http.Header
	body         []byte
	// reference is that of an order; empty of what is none.
	reference string
	isAnswer  func(T) bool
}

// send sends the same bytes until an answer decides the call or ctx ends.
func send[T any](ctx context.Context, c *Client, call call[T]) (T, error) {
	for wait := 500 * time.Millisecond; ; wait = min(wait*2, 8*time.Second) {
		answer, err := attempt(ctx, c, call)
		if err == nil {
			return answer, nil
		}
		passes, retryAfter := passing(err, call.reference)
		pause := jittered(wait)
		if retryAfter != nil {
			pause = *retryAfter + min(pause, time.Second)
		}
		// An attempt with less than a second left could make a known outcome unknown.
		deadline, _ := ctx.Deadline()
		if !passes || time.Until(deadline) < pause+time.Second {
			return answer, err
		}
		if !sleep(ctx, pause) {
			return answer, fmt.Errorf("%w after %w", ctx.Err(), err)
		}
	}
}

// passing says whether the same request may get another answer later, and when.
func passing(err error, reference string) (bool, *time.Duration) {
	var refusal *ServiceError
	if errors.As(err, &refusal) {
		isDecided := reference != "" && refusal.TransactionReference != ""
		passes := refusal.RetryAfter != nil || refusal.Code == "rate_limited" ||
			refusal.Code == "provider_unavailable" || refusal.Code == "internal_error"
		return passes && !isDecided, refusal.RetryAfter
	}
	var noAnswer *NoAnswerError
	if !errors.As(err, &noAnswer) {
		return false, nil
	}
	status := noAnswer.Status
	isOfProxy := status == 408 || status == 425 || status == 429
	return noAnswer.isMismatch || status < 300 || status >= 500 || isOfProxy, noAnswer.retryAfter
}

// bodyBytesMax is longer than any answer of the service: Lambda sends at most 6 MB.
const bodyBytesMax = 8_000_000

// attempt sends the request once.
func attempt[T any](ctx context.Context, c *Client, call call[T]) (T, error) {
	var none T
	ctx, cancel := context.WithTimeout(ctx, c.AttemptTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, call.method, c.baseURL+call.path, bytes.NewReader(call.body))
	if err != nil {
		return none, err
	}
	maps.Copy(request.Header, call.header)
	request.Header.Set("Authorization", "Bearer "+c.apiKey())
	request.Header.Set("Accept", "application/json")
	request.Header.Set("Accept-Encoding", "identity")
	if call.body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := c.http.Do(request)
	if err != nil {
		return none, &NoAnswerError{Cause: err}
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusSwitchingProtocols {
		// Its body is the connection itself, whose reading no context ends.
		return none, &NoAnswerError{Status: response.StatusCode, Cause: errors.New("not HTTP")}
	}
	text, readErr := io.ReadAll(io.LimitReader(response.Body, bodyBytesMax+1))
	if len(text) > bodyBytesMax {
		readErr = errors.New("the answer is too long to be one of the service")
	}
	headers := response.Header
	retryAfter := secondsIn(headers.Get("Retry-After"))
	requestID := headers.Get("X-Request-Id")
	noAnswer := &NoAnswerError{Status: response.StatusCode, Cause: readErr, RequestID: requestID, retryAfter: retryAfter}
	var envelope struct {
		Status  bool                `json:"status"`
		Message string              `json:"message"`
		Errors  map[string][]string `json:"errors"`
		Data    struct {
			Transaction T `json:"transaction"`
		} `json:"data"`
	}
	parseErr := json.Unmarshal(text, &envelope)
	if code := headers.Get("X-Error-Code"); code != "" {
		named, transaction := headers.Get("X-Caller-Reference"), headers.Get("X-Transaction-Reference")
		isOwn := named == call.reference && (transaction == "" || c.isOfMode(transaction))
		if call.reference != "" && (named != "" || transaction != "") && !isOwn {
			noAnswer.isMismatch = true
			noAnswer.Cause = errors.New("the answer is about another order")
			return none, noAnswer
		}
		// The headers are enough: the body says in words what the code means.
		return none, &ServiceError{
			Code: code, Status: response.StatusCode, Message: envelope.Message, Fields: envelope.Errors,
			TransactionReference: transaction, DuplicateOf: headers.Get("X-Duplicate-Of"), RetryAfter: retryAfter, RequestID: requestID,
		}
	}
	if readErr == nil && parseErr == nil && response.StatusCode == 200 && envelope.Status && call.isAnswer(envelope.Data.Transaction) {
		return envelope.Data.Transaction, nil
	}
	if noAnswer.Cause == nil {
		noAnswer.Cause = errors.New("not an answer of the service to this request")
	}
	return none, noAnswer
}

const secondsMax = 999_999_999 * time.Second

// secondsIn reads Retry-After: the service sends seconds; a proxy may send a date.
func secondsIn(header string) *time.Duration {
	if until, err := http.ParseTime(header); err == nil {
		wait := min(max(0, time.Until(until)), secondsMax)
		return &wait
	}
	seconds, err := strconv.ParseUint(header, 10, 30)
	wait := time.Duration(seconds) * time.Second
	if err != nil || wait > secondsMax {
		return nil
	}
	return &wait
}

// jittered makes half of a wait random, so that clients do not retry together.
func jittered(wait time.Duration) time.Duration {
	return wait/2 + rand.N(wait/2)
}

// sleep says whether it slept to the end.
func sleep(ctx context.Context, wait time.Duration) bool {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
