// Package airtime buys airtime and data bundles, and verifies identities, through the Airtime, Data and Identity Service.
// Each order has one reference, and each attempt to place it has the same: it is charged and delivered at most once.
package airtime

import (
	"bytes"
	"context"
	crand "crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Client is a client of the service. One for each API key is enough for a process; goroutines can share it.
type Client struct {
	baseURL string
	// apiKey returns the key. A log that prints a client shows the text of a field, but not what a function returns.
	apiKey func() string
	// Timeout is the deadline of a call with all its attempts and waits. 90 s unless set.
	Timeout time.Duration
	// AttemptTimeout is the longest that one attempt may take. 35 s unless set; the service answers within 30 s.
	AttemptTimeout time.Duration
	// Logger gets a record of how each attempt ended, without keys and bodies. None unless set.
	Logger *slog.Logger
	http   *http.Client
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
func (c *Client) BuyData(ctx context.Context, order DataPurchaseRequest, reference string, options ...PurchaseOption) (Purchase, error) {
	return place[Purchase](ctx, c, "data", "/vtu/data/purchase", order, order.PhoneNumber, reference, options)
}

// BuyAirtime buys airtime, as BuyData does.
func (c *Client) BuyAirtime(ctx context.Context, order AirtimePurchaseRequest, reference string, options ...PurchaseOption) (Purchase, error) {
	return place[Purchase](ctx, c, "airtime", "/vtu/airtime/purchase", order, order.PhoneNumber, reference, options)
}

// VerifyNin finds the person of a NIN. A check is an order, as of BuyData, and one without a result is never charged. The
// service keeps a result for 10 minutes, for the same check with the same reference. Afterwards that is a *ServiceError
// with the code reference_reused: the check was charged, and another one needs a new reference.
func (c *Client) VerifyNin(ctx context.Context, check NinVerifyRequest, reference string) (NinVerification, error) {
	return place[NinVerification](ctx, c, "nin_verification", "/identity/nin/verify", check, "", reference, nil)
}

// VerifyBvn finds the person of a BVN, as VerifyNin does.
func (c *Client) VerifyBvn(ctx context.Context, check BvnVerifyRequest, reference string) (BvnVerification, error) {
	return place[BvnVerification](ctx, c, "bvn_verification", "/identity/bvn/verify", check, "", reference, nil)
}

// RetrieveNin finds a person by phone number, as VerifyNin does. It needs a key with the permission identity:retrieve.
func (c *Client) RetrieveNin(ctx context.Context, check RetrieveRequest, reference string) (NinRetrieval, error) {
	return place[NinRetrieval](ctx, c, "nin_retrieval", "/identity/nin/retrieve", check, "", reference, nil)
}

// RetrieveBvn finds a person by phone number, as RetrieveNin does.
func (c *Client) RetrieveBvn(ctx context.Context, check RetrieveRequest, reference string) (BvnRetrieval, error) {
	return place[BvnRetrieval](ctx, c, "bvn_retrieval", "/identity/bvn/retrieve", check, "", reference, nil)
}

// NewReference makes a random reference. Save it with your order before you send that. It has no digits, so it cannot
// contain the order's own number, which the service refuses.
func NewReference() string {
	letters := make([]byte, 32)
	_, _ = crand.Read(letters)
	for i := range letters {
		letters[i] = 'a' + letters[i]%16
	}
	return string(letters)
}

// Cancel makes sure that no request places the order from now on: "failed" if it was not placed or failed before, else
// the transaction as it is. kind is the order's type, such as "data".
func (c *Client) Cancel(ctx context.Context, reference, kind string) (Transaction, error) {
	if err := check(reference); err != nil {
		return Transaction{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	return c.cancel(ctx, reference, kind)
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
	found, err := send(ctx, c, call[TransactionLookup]{
		method: http.MethodGet,
		path:   "/transactions/" + url.PathEscape(reference),
		isAnswer: func(found TransactionLookup) bool {
			return isNamed(found.Transaction) && c.isOurs(found.Transaction.Reference, found.Transaction.Status)
		},
	})
	return found.Transaction, err
}

// TransactionQuery says which transactions are listed: all unless its fields say less.
type TransactionQuery struct {
	Status, Type string
	// From and To are inclusive, such as 2026-11-21T00:00:00+01:00; a date alone is that day in UTC.
	From, To string
	// Cursor is the NextCursor of the page before.
	Cursor string
}

// Transactions lists transactions, newest first. A page can be short while NextCursor is not nil. A new transaction is in
// the list some moments later: Transaction says whether an order exists.
func (c *Client) Transactions(ctx context.Context, query TransactionQuery) (TransactionPage, error) {
	parameters := url.Values{}
	for name, value := range map[string]string{
		"status": query.Status, "type": query.Type, "from": query.From, "to": query.To, "cursor": query.Cursor,
	} {
		if value != "" {
			parameters.Set(name, value)
		}
	}
	return read(ctx, c, "/transactions?"+parameters.Encode(), func(page TransactionPage) bool {
		for _, t := range page.Transactions {
			isAsked := (query.Status == "" || t.Status == query.Status) && (query.Type == "" || t.Type == query.Type)
			if !isAsked || !c.isOurs(t.Reference, t.Status) {
				return false
			}
		}
		// A page that names itself as the next one would be read for ever.
		return page.Transactions != nil && (page.NextCursor == nil || *page.NextCursor != query.Cursor)
	})
}

// Catalog lists networks and data plans. Keep it for an hour.
func (c *Client) Catalog(ctx context.Context) (Catalog, error) {
	return read(ctx, c, "/vtu/data", func(catalog Catalog) bool { return catalog.Networks != nil && catalog.DataPlans != nil })
}

// Wallet reads the prepaid balance.
func (c *Client) Wallet(ctx context.Context) (WalletWallet, error) {
	found, err := read(ctx, c, "/wallet", func(found Wallet) bool { return found.Wallet.Balance != "" })
	return found.Wallet, err
}

func read[T any](ctx context.Context, c *Client, path string, isAnswer func(T) bool) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	return send(ctx, c, call[T]{method: http.MethodGet, path: path, isAnswer: isAnswer})
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
			// Of an error it has the text only, as above.
			last := "it is processing"
			if err != nil {
				last = err.Error()
			}
			return found, fmt.Errorf("the transaction %s is not final yet: %w (%s)", reference, ctx.Err(), last)
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

// placed is what the answers to all orders have.
type placed struct {
	reference, status, kind      string
	callerReference, phoneNumber *string
	// isPreliminary is true of a check without its result yet. Only the same request gets that: a lookup has none.
	isPreliminary bool
}

func (a Purchase) placed() placed {
	t := a.Transaction
	return placed{t.Reference, t.Status, t.Type, t.CallerReference, t.PhoneNumber, false}
}
func (a NinVerification) placed() placed { return a.Transaction.placed(a.Result == nil) }
func (a BvnVerification) placed() placed { return a.Transaction.placed(a.Result == nil) }
func (a NinRetrieval) placed() placed    { return a.Transaction.placed(a.Result == nil) }
func (a BvnRetrieval) placed() placed    { return a.Transaction.placed(a.Result == nil) }
func (t IdentityTransaction) placed(lacksResult bool) placed {
	return placed{t.Reference, t.Status, t.Type, t.CallerReference, nil, lacksResult && t.Status == "processing"}
}

func place[T interface{ placed() placed }](
	ctx context.Context, c *Client, kind, path string, order any, phone, reference string, options []PurchaseOption,
) (T, error) {
	var none T
	if err := check(reference); err != nil {
		return none, err
	}
	fields, err := json.Marshal(order)
	if err != nil {
		return none, err
	}
	body := fmt.Appendf(fields[:len(fields)-1], `,"reference":%q}`, reference)
	purchase := call[T]{
		method: http.MethodPost, path: path, header: http.Header{}, body: body, reference: reference,
		isPreliminary: func(answer T) bool { return answer.placed().isPreliminary },
		isAnswer: func(answer T) bool {
			t := answer.placed()
			shown := ""
			if t.phoneNumber != nil {
				shown = strings.TrimLeft(*t.phoneNumber, "*")
			}
			return t.callerReference != nil && *t.callerReference == reference && t.kind == kind &&
				strings.HasSuffix(phone, shown) && c.isOurs(t.reference, t.status)
		},
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
	found, err := c.cancel(lastTime, reference, kind)
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

func (c *Client) cancel(ctx context.Context, reference, kind string) (Transaction, error) {
	body, err := json.Marshal(CancelRequest{Reference: reference, Type: kind})
	if err != nil {
		return Transaction{}, err
	}
	found, err := send(ctx, c, call[TransactionLookup]{
		method: http.MethodPost,
		path:   "/transactions/cancel",
		body:   body,
		isAnswer: func(found TransactionLookup) bool {
			t := found.Transaction
			return t.CallerReference != nil && *t.CallerReference == reference && c.isOurs(t.Reference, t.Status)
		},
	})
	return found.Transaction, err
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
	// isPreliminary says of an order's answer that the same request may get a later one.
	isPreliminary func(T) bool
}

// send sends the same bytes until an answer decides the call or ctx ends.
func send[T any](ctx context.Context, c *Client, call call[T]) (T, error) {
	var preliminary *T
	for number, wait := 1, 500*time.Millisecond; ; number, wait = number+1, min(wait*2, 8*time.Second) {
		answer, err := attempt(ctx, c, call)
		passes, retryAfter := passing(err, call.reference)
		if err == nil && call.isPreliminary != nil && call.isPreliminary(answer) {
			passes, preliminary = true, &answer
		}
		pause := jittered(wait)
		if retryAfter != nil {
			pause = *retryAfter + min(pause, time.Second)
		}
		// An attempt with less than a second left could make a known outcome unknown.
		deadline, _ := ctx.Deadline()
		isLast := !passes || time.Until(deadline) < pause+time.Second
		c.log(ctx, call.path, call.reference, number, err, isLast, pause)
		if isLast && err == nil {
			return answer, nil
		}
		if !isLast && sleep(ctx, pause) {
			continue
		}
		var refusal *ServiceError
		if preliminary != nil && !errors.As(err, &refusal) {
			return *preliminary, nil
		}
		if !isLast {
			err = fmt.Errorf("%w after %w", ctx.Err(), err)
		}
		return answer, err
	}
}

// log says how an attempt ended, without keys and bodies.
func (c *Client) log(ctx context.Context, path, reference string, number int, err error, isLast bool, pause time.Duration) {
	if c.Logger == nil {
		return
	}
	result := "answered"
	var refusal *ServiceError
	if errors.As(err, &refusal) {
		// Its message may name what was sent.
		result = refusal.Code
	} else if err != nil {
		result = err.Error()
	}
	attributes := []slog.Attr{slog.String("path", path), slog.Int("attempt", number), slog.String("result", result)}
	if reference != "" {
		attributes = append(attributes, slog.String("reference", reference))
	}
	if !isLast {
		attributes = append(attributes, slog.Duration("again_in", pause))
	}
	c.Logger.LogAttrs(ctx, slog.LevelInfo, "airtime attempt", attributes...)
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
		Data    T                   `json:"data"`
	}
	parseErr := errors.Join(json.Unmarshal(text, &envelope), json.Unmarshal(fromHeaders(headers), &envelope.Data))
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
	if readErr == nil && parseErr == nil && response.StatusCode == 200 && envelope.Status && call.isAnswer(envelope.Data) {
		return envelope.Data, nil
	}
	if noAnswer.Cause == nil {
		noAnswer.Cause = errors.New("not an answer of the service to this request")
	}
	return none, noAnswer
}

// fromHeaders is what an order's answer has in its headers, as fields of its model.
func fromHeaders(headers http.Header) []byte {
	fields := map[string]any{"replayed": headers.Get("Idempotent-Replayed") == "true"}
	if seconds, err := strconv.ParseUint(headers.Get("X-Estimated-Delivery"), 10, 30); err == nil {
		fields["estimated_delivery_s"] = seconds
	}
	text, _ := json.Marshal(fields)
	return text
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
