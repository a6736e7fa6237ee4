package answer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/urnd/urnd/internal/api"
	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/proxy/route"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
)

// Limits of batches.
const (
	maxBatch      = 10_000   // URIs of a batch
	maxBatchBody  = 16 << 20 // bytes of a batch
	batchWorkers  = 16       // concurrent resolutions of a batch
	batchAhead    = 64       // queued answers of a batch
	maxBatches    = 8        // concurrent batches
	clientTimeout = 30 * time.Second
)

// BatchRights are the rights of the client of a batch.
type BatchRights struct {
	URLs bool // it may resolve URLs
	// Allow reports whether the client may send one more request: each name counts as one.
	Allow func() bool
	// WithClient returns a query with the client's identity.
	WithClient func(q resolver.Query) resolver.Query
	// Report is called with the error of each name that fails.
	Report func(err error)
	// Answered is called with the record of each name that the registry of the site has answered, nil for
	// other names. It must be safe for concurrent use.
	Answered func(record *resolver.Record)
}

// BatchRequest is a request for a batch.
type BatchRequest struct {
	Target string // the request-target
	Header httpmessage.Header
	Body   io.Reader // the URIs: at most maxBatchBody bytes
	// SetReadDeadline sets the deadline after which Body fails with os.ErrDeadlineExceeded; the zero value is
	// none.
	SetReadDeadline func(time.Time) error
}

// Batch resolves many URIs concurrently, and streams their answers in the order of the input, one JSON
// document per line. It resolves at most batchAhead names ahead of the client, and ends if the client reads
// nothing for clientTimeout, or ctx is done.
func (a *Responder) Batch(ctx context.Context, r *BatchRequest, rights BatchRights) (message.Reply, error) {
	service, err := route.BatchService(r.Target)
	if err != nil {
		return message.Reply{}, err
	}
	permit, err := a.batches.Acquire(rights.WithClient(resolver.Query{}).Client)
	if err != nil {
		return message.Reply{}, err
	}
	_ = r.SetReadDeadline(a.config.Now().Add(clientTimeout))
	inputs, err := a.readInputs(r)
	if err != nil {
		permit.Release()
		return message.Reply{}, err
	}
	_ = r.SetReadDeadline(time.Time{}) // an expired deadline would end the batch
	return message.Reply{
		Status: http.StatusOK, ContentType: "application/x-ndjson", CacheControl: message.NoStore,
		Stream: func(w message.Stream) error {
			a.stream(ctx, w, batch{inputs, service, rights})
			return nil
		},
		Close: permit.Release,
	}, nil
}

// stream resolves inputs and writes one line for each. Names that are not resolved before the time limit of
// the batch get an error.
func (a *Responder) stream(ctx context.Context, w message.Stream, b batch) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // the client may have disconnected
	inTime, over := context.WithTimeoutCause(ctx, a.config.BatchTimeout, problem.ErrBatchTimeout)
	defer over()
	var late atomic.Int32
	lines := make(chan chan []byte, batchAhead)
	var workers sync.WaitGroup
	workers.Go(func() {
		defer close(lines)
		slots := make(chan struct{}, batchWorkers)
		for _, input := range b.inputs {
			line := make(chan []byte, 1)
			select {
			case lines <- line:
			case <-ctx.Done():
				return
			}
			slots <- struct{}{}
			workers.Go(func() {
				defer func() { <-slots }()
				if errors.Is(context.Cause(inTime), problem.ErrBatchTimeout) {
					late.Add(1)
					line <- failedLine(input, problem.ErrBatchTimeout)
					return
				}
				line <- a.batchLine(inTime, input, b)
			})
		}
	})
	writeLines(ctx, w, lines)
	cancel()
	workers.Wait()
	if n := late.Load(); n > 0 {
		b.rights.Report(fmt.Errorf("%w: %d of its %d names were not resolved", problem.ErrBatchTimeout, n,
			len(b.inputs)))
	}
}

// failedLine returns the line of a name that failed.
func failedLine(in input, err error) []byte {
	p := problem.New(err)
	p.Input = ""
	return message.MarshalLine(api.Failed{Input: beginning(in.text, maxEcho), Error: p})
}

// writeLines writes lines in order, and flushes before it waits for one.
func writeLines(ctx context.Context, w message.Stream, lines <-chan chan []byte) {
	for line := range lines {
		if len(line) == 0 {
			_ = w.Flush() // the next write detects a disconnected client
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

// batchLine resolves one URI. A panic fails only its line.
func (a *Responder) batchLine(ctx context.Context, in input, b batch) (text []byte) {
	defer func() {
		if p := recover(); p != nil {
			a.config.Panicked(p, debug.Stack())
			err := fmt.Errorf("resolving in a batch panicked: %v", p)
			b.rights.Report(err)
			text = failedLine(in, err)
		}
	}()
	document, err := a.batchAnswer(ctx, in, b)
	if err != nil {
		b.rights.Report(err)
		return failedLine(in, err)
	}
	return message.MarshalLine(document)
}

// batchAnswer returns the document of one URI.
func (a *Responder) batchAnswer(ctx context.Context, in input, b batch) (any, error) {
	if !b.rights.Allow() {
		return nil, problem.ErrTooManyRequests
	}
	if in.long {
		return nil, problem.ErrTargetTooLong
	}
	q, err := resolver.ParseQuery(uri.EncodeRaw(in.text), b.service)
	if err != nil {
		return nil, err
	}
	q = a.config.Names.Identify(q)
	if !b.rights.URLs && !a.config.Names.IsName(q.URI) {
		return nil, problem.ErrProxyClient
	}
	q = b.rights.WithClient(q)
	if b.service == resolver.I2L {
		q = q.Selected()
	}
	switch q.Service {
	case resolver.I2C, resolver.I2Cs:
		d, answer, failure, err := a.describe(ctx, q)
		b.rights.Answered(recordOf(answer, failure))
		return d, err
	case resolver.I2N, resolver.I2Ns:
		names, err := a.namesOf(ctx, q)
		b.rights.Answered(names.record)
		if err != nil {
			return nil, err
		}
		return names.document(q), nil
	case resolver.I2L, resolver.I2Ls:
		answer, err := a.config.Resolver.Resolve(ctx, q)
		b.rights.Answered(recordOf(answer, err))
		if err != nil {
			return nil, err
		}
		return api.NewAnswer(q, answer, nil), nil
	default:
		return nil, &resolver.Negative{
			Kind:   resolver.ErrService,
			Reason: q.Service.String() + " is not supported in batches",
		}
	}
}

// recordOf returns the registry record of an answer or an error; nil if it does not come from the registry.
func recordOf(answer resolver.Answer, err error) *resolver.Record {
	if record := answer.Record(); record != nil {
		return record
	}
	return resolver.RecordOf(err)
}

// batch is a parsed batch.
type batch struct {
	inputs  []input
	service resolver.Service
	rights  BatchRights
}
