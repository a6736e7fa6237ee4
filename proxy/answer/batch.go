package answer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime/debug"
	"sync"
	"time"

	"github.com/urnd/urnd/internal/api"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver"
)

// Bounds of batches.
const (
	maxBatch      = 10_000   // URIs of a batch
	maxBatchBody  = 16 << 20 // octets of a batch
	batchWorkers  = 16       // concurrent resolutions of a batch
	batchAhead    = 64       // queued answers of a batch
	maxBatches    = 8        // concurrent batches
	clientTimeout = 30 * time.Second
)

// BatchRights are what the client of a batch may do.
type BatchRights struct {
	URLs bool // it may resolve URLs
	// Allow reports whether it may send one more request: each name counts as one.
	Allow func() bool
	// Report is called with the error of each name that fails.
	Report func(err error)
}

// Batch resolves many URIs concurrently, and streams their answers in the order of the
// input, a line of JSON each. It resolves only batchAhead names ahead of its client, and
// ends where the client does not read for clientTimeout. The body of r is bounded by
// maxBatchBody.
func (a *Responder) Batch(w http.ResponseWriter, r *http.Request, rights BatchRights) (message.Reply, error) {
	select {
	case a.batches <- struct{}{}:
	default:
		return message.Reply{}, problem.ErrBatches
	}
	release := func() { <-a.batches }
	out := http.NewResponseController(w)
	_ = out.SetReadDeadline(a.config.Now().Add(clientTimeout))
	inputs, err := readBatch(http.MaxBytesReader(w, r.Body, maxBatchBody))
	if err != nil {
		release()
		return message.Reply{}, err
	}
	_ = out.SetReadDeadline(time.Time{}) // it would end the batch when it passes
	return message.Reply{
		Status: http.StatusOK, ContentType: "application/x-ndjson", CacheControl: message.NoStore,
		Stream: func(w http.ResponseWriter) error {
			a.stream(r.Context(), w, inputs, rights)
			return nil
		},
		Close: release,
	}, nil
}

// stream resolves inputs and writes their lines.
func (a *Responder) stream(ctx context.Context, w http.ResponseWriter, inputs []string, rights BatchRights) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // the client may have left
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
				line <- a.batchLine(ctx, input, rights)
			})
		}
	})
	out := http.NewResponseController(w)
	a.writeLines(ctx, w, out, lines)
	cancel()
	workers.Wait()
	_ = out.SetWriteDeadline(time.Time{})
}

// writeLines writes lines in order, and flushes before it waits for one.
func (a *Responder) writeLines(ctx context.Context, w io.Writer, out *http.ResponseController, lines <-chan chan []byte) {
	for line := range lines {
		if len(line) == 0 {
			_ = out.SetWriteDeadline(a.config.Now().Add(clientTimeout))
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

// batchLine resolves one URI. A panic fails this line only.
func (a *Responder) batchLine(ctx context.Context, input string, rights BatchRights) (text []byte) {
	defer func() {
		if p := recover(); p != nil {
			err := fmt.Errorf("resolving in a batch panicked: %v\n%s", p, debug.Stack())
			rights.Report(err)
			text = message.Line(api.Failed{Input: input, Error: problem.New(err)})
		}
	}()
	q, answer, err := a.batchAnswer(ctx, input, rights)
	if err != nil {
		rights.Report(err)
		p := problem.New(err)
		p.Input = ""
		return message.Line(api.Failed{Input: input, Error: p})
	}
	return message.Line(api.NewAnswer(q, answer, nil))
}

func (a *Responder) batchAnswer(ctx context.Context, input string, rights BatchRights) (resolver.Query, resolver.Answer, error) {
	if !rights.Allow() {
		return resolver.Query{}, resolver.Answer{}, problem.ErrRate
	}
	if len(input) > a.config.MaxTarget {
		return resolver.Query{}, resolver.Answer{}, problem.ErrTargetTooLong
	}
	q, err := resolver.ParseQuery(input, resolver.I2L)
	if err != nil {
		return resolver.Query{}, resolver.Answer{}, err
	}
	if !q.IsURN() && !rights.URLs {
		return resolver.Query{}, resolver.Answer{}, problem.ErrProxyClient
	}
	q = q.Selected()
	answer, err := a.config.Resolver.Resolve(ctx, q)
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
			return nil, problem.ErrBatchSize
		case err != nil:
			return nil, fmt.Errorf("%w: reading the body: %w", problem.ErrBatch, err)
		}
		switch token := token.(type) {
		case string:
			inputs = append(inputs, token)
		case json.Delim:
			if token != '[' && token != ']' || inArray == (token == '[') {
				return nil, fmt.Errorf("%w: %q is not expected", problem.ErrBatch, token.String())
			}
			inArray = token == '['
		default:
			return nil, fmt.Errorf("%w: %v is not a string", problem.ErrBatch, token)
		}
		if len(inputs) > maxBatch {
			return nil, problem.ErrBatchSize
		}
	}
}
