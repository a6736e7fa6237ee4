package proxy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
)

// Bounds of one batch.
const (
	maxBatch     = 10_000   // URIs
	maxBatchBody = 16 << 20 // octets
	batchWorkers = 16       // resolutions at a time
)

var errBatch = errors.New("a batch is a JSON array of strings, or one JSON string a line, of at most 10000 URIs and 16 MiB")

// failedJSON is the line of a URI that has no answer.
type failedJSON struct {
	Input string  `json:"input"`
	Error problem `json:"error"`
}

// serveBatch resolves many URIs, some at a time, and streams their answers in the
// order of the questions, a line of JSON each.
func (h *Handler) serveBatch(w http.ResponseWriter, r *http.Request) {
	inputs, err := readBatch(http.MaxBytesReader(w, r.Body, maxBatchBody))
	if err != nil {
		h.fail(w, r, fmt.Errorf("%w: %w", errBatch, err), "", nil)
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel() // a client that left needs no more answers
	urls := h.allowed(r) && !relayed(r)
	lines := make([]chan []byte, len(inputs))
	for i := range lines {
		lines[i] = make(chan []byte, 1)
	}
	var next atomic.Int64
	done := make(chan struct{})
	workers := min(batchWorkers, len(inputs))
	for range workers {
		go func() {
			defer func() { done <- struct{}{} }()
			for i := int(next.Add(1)) - 1; i < len(inputs) && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				lines[i] <- h.batchLine(ctx, inputs[i], urls)
			}
		}()
	}
	header := w.Header()
	header.Set("Content-Type", "application/x-ndjson")
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	h.writeLines(ctx, w, lines)
	cancel()
	for range workers {
		<-done
	}
}

// writeLines writes lines as they come, in order, and sends what it has before it
// waits.
func (h *Handler) writeLines(ctx context.Context, w http.ResponseWriter, lines []chan []byte) {
	out := http.NewResponseController(w)
	for _, line := range lines {
		if len(line) == 0 {
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

// batchLine resolves one URI.
func (h *Handler) batchLine(ctx context.Context, input string, urls bool) []byte {
	var line any
	if q, answer, err := h.batchAnswer(ctx, input, urls); err != nil {
		p := newProblem(err, "")
		p.Input = ""
		line = failedJSON{input, p}
	} else {
		line = NewAnswerJSON(q, answer, nil)
	}
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
	for {
		var text json.RawMessage
		err := decoder.Decode(&text)
		if errors.Is(err, io.EOF) {
			return inputs, nil
		}
		if err != nil {
			return nil, fmt.Errorf("reading it: %w", err)
		}
		var many []string
		var one string
		switch {
		case text[0] == '[' && json.Unmarshal(text, &many) == nil:
			inputs = append(inputs, many...)
		case json.Unmarshal(text, &one) == nil:
			inputs = append(inputs, one)
		default:
			return nil, fmt.Errorf("%.60s is not a string", text)
		}
		if len(inputs) > maxBatch {
			return nil, fmt.Errorf("it has more than %d", maxBatch)
		}
	}
}
