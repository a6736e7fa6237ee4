package proxy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime/debug"
	"sync"
	"time"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
)

// Bounds of batches.
const (
	maxBatch      = 10_000   // URIs of one
	maxBatchBody  = 16 << 20 // octets of one
	batchWorkers  = 16       // resolutions at a time, for one
	batchAhead    = 64       // answers of one that wait for its client
	maxBatches    = 8        // at a time
	batchPatience = 30 * time.Second
)

var (
	errBatch     = errors.New("a batch is a JSON array of strings, or one JSON string a line")
	errBatchSize = errors.New("a batch has at most 10000 URIs and 16 MiB")
	errBusy      = errors.New("as many batches as may be are under way")
)

// failedJSON is the line of a URI that has no answer.
type failedJSON struct {
	Input string  `json:"input"`
	Error problem `json:"error"`
}

// serveBatch resolves many URIs, some at a time, and streams their answers in the
// order of the questions, a line of JSON each. It goes no further ahead than its
// client reads, and ends with a client that does not.
func (h *Handler) serveBatch(w http.ResponseWriter, r *http.Request) {
	eventOf(w).Form = "batch"
	select {
	case h.batches <- struct{}{}:
		defer func() { <-h.batches }()
	default:
		h.fail(w, r, errBusy, "", nil)
		return
	}
	out := http.NewResponseController(w)
	_ = out.SetReadDeadline(h.config.Now().Add(batchPatience))
	inputs, err := readBatch(http.MaxBytesReader(w, r.Body, maxBatchBody))
	if err != nil {
		h.fail(w, r, err, "", nil)
		return
	}
	_ = out.SetReadDeadline(time.Time{}) // or the batch would end when it has passed
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel() // a client that left needs no more answers
	urls := h.mayProxy(r) == nil
	lines := make(chan chan []byte, batchAhead)
	var workers sync.WaitGroup
	workers.Go(func() {
		defer close(lines)
		slots := make(chan struct{}, batchWorkers)
		for _, input := range inputs {
			line := make(chan []byte, 1)
			select {
			case lines <- line:
			case <-ctx.Done():
				return
			}
			slots <- struct{}{}
			workers.Go(func() {
				defer func() { <-slots }()
				line <- h.batchLine(ctx, r, input, urls)
			})
		}
	})
	header := w.Header()
	header.Set("Content-Type", "application/x-ndjson")
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	h.writeLines(ctx, w, out, lines)
	cancel()
	workers.Wait()
	_ = out.SetWriteDeadline(time.Time{})
}

// writeLines writes lines as they come, in order, and sends what it has before it
// waits.
func (h *Handler) writeLines(ctx context.Context, w io.Writer, out *http.ResponseController, lines <-chan chan []byte) {
	for line := range lines {
		if len(line) == 0 {
			_ = out.SetWriteDeadline(h.config.Now().Add(batchPatience))
			_ = out.Flush() // a client that left is seen by the next write
		}
		select {
		case text := <-line:
			if _, err := w.Write(text); err != nil {
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

// batchLine resolves one URI. A panic over it is a failure of this line.
func (h *Handler) batchLine(ctx context.Context, r *http.Request, input string, urls bool) (text []byte) {
	defer func() {
		if p := recover(); p != nil {
			err := fmt.Errorf("resolving in a batch panicked: %v\n%s", p, debug.Stack())
			h.report(r, err, "")
			text = encodeLine(failedJSON{input, newProblem(err, "")})
		}
	}()
	var q resolver.Query
	var answer resolver.Answer
	err := errRate
	if h.rates == nil || h.rates.allows(h.config.Access.clientOf(r).addr) { // a name of many is a request too
		q, answer, err = h.batchAnswer(ctx, input, urls)
	}
	if err != nil {
		h.report(r, err, "")
		p := newProblem(err, "")
		p.Input = ""
		return encodeLine(failedJSON{input, p})
	}
	return encodeLine(NewAnswerJSON(q, answer, nil))
}

func encodeLine(line any) []byte {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(line); err != nil {
		return []byte("{}\n") // none of our types can fail
	}
	return b.Bytes()
}

func (h *Handler) batchAnswer(ctx context.Context, input string, urls bool) (resolver.Query, resolver.Answer, error) {
	if len(input) > h.config.MaxTarget {
		return resolver.Query{}, resolver.Answer{}, errTargetTooLong
	}
	u, err := uri.Parse(input)
	if err != nil {
		return resolver.Query{}, resolver.Answer{}, err
	}
	if !u.IsURN() && !urls {
		return resolver.Query{}, resolver.Answer{}, errClient
	}
	q := resolver.Query{URI: u}.Selected()
	answer, err := h.config.Resolver.Resolve(ctx, q)
	return q, answer, err
}

// readBatch reads a JSON array of strings, or JSON strings one after another.
func readBatch(body io.Reader) ([]string, error) {
	decoder := json.NewDecoder(body)
	var inputs []string
	inArray := false
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) && !inArray {
			return inputs, nil
		}
		var tooLong *http.MaxBytesError
		switch {
		case errors.As(err, &tooLong):
			return nil, errBatchSize
		case err != nil:
			return nil, fmt.Errorf("%w: reading it: %w", errBatch, err)
		}
		switch token := token.(type) {
		case string:
			inputs = append(inputs, token)
		case json.Delim:
			if token != '[' && token != ']' || inArray == (token == '[') {
				return nil, fmt.Errorf("%w: %q stands in it", errBatch, token.String())
			}
			inArray = token == '['
		default:
			return nil, fmt.Errorf("%w: %v is none", errBatch, token)
		}
		if len(inputs) > maxBatch {
			return nil, errBatchSize
		}
	}
}
