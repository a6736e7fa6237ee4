package answer

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/urnd/urnd/internal/api"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
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
	// Asking returns a question as that of the client.
	Asking func(q resolver.Query) resolver.Query
	// Report is called with the error of each name that fails.
	Report func(err error)
}

// Batch resolves many URIs concurrently, and streams their answers in the order of the
// input, a line of JSON each. It resolves only batchAhead names ahead of its client, and
// ends where the client does not read for clientTimeout. The body of r is bounded by
// maxBatchBody.
func (a *Responder) Batch(w http.ResponseWriter, r *http.Request, target string, rights BatchRights) (message.Reply, error) {
	service, err := message.BatchService(target)
	if err != nil {
		return message.Reply{}, err
	}
	release, err := a.batches.Acquire(rights.Asking(resolver.Query{}).Client)
	if err != nil {
		return message.Reply{}, err
	}
	body := bufio.NewReader(a.inTime(http.MaxBytesReader(w, r.Body, maxBatchBody)))
	read := readBatch
	if isLines(r.Header) && !beginsJSON(body) {
		read = readLines
	}
	inputs, err := read(body)
	if err != nil {
		release()
		return message.Reply{}, err
	}
	return message.Reply{
		Status: http.StatusOK, ContentType: "application/x-ndjson", CacheControl: message.NoStore,
		Stream: func(w http.ResponseWriter) error {
			a.stream(r.Context(), w, batch{inputs, service, rights})
			return nil
		},
		Close: release,
	}, nil
}

// inTime returns a body that must come within clientTimeout.
func (a *Responder) inTime(body io.Reader) io.Reader {
	end := a.config.Now().Add(clientTimeout)
	return readerFunc(func(p []byte) (int, error) {
		if a.config.Now().After(end) {
			return 0, problem.ErrBodyTimeout
		}
		n, err := body.Read(p)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			err = problem.ErrBodyTimeout
		}
		return n, err //nolint:wrapcheck // it stands for the reader that it wraps
	})
}

// readerFunc is an adapter from a function to an io.Reader.
type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// stream resolves inputs and writes their lines.
func (a *Responder) stream(ctx context.Context, w http.ResponseWriter, b batch) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // the client may have left
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
				line <- a.batchLine(ctx, input, b)
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
func (a *Responder) batchLine(ctx context.Context, input string, b batch) (text []byte) {
	defer func() {
		if p := recover(); p != nil {
			a.config.Panicked(p, debug.Stack())
			err := fmt.Errorf("resolving in a batch panicked: %v", p)
			b.rights.Report(err)
			text = message.Line(api.Failed{Input: input, Error: problem.New(err)})
		}
	}()
	document, err := a.batchAnswer(ctx, input, b)
	if err != nil {
		b.rights.Report(err)
		p := problem.New(err)
		p.Input = ""
		return message.Line(api.Failed{Input: input, Error: p})
	}
	return message.Line(document)
}

// batchAnswer returns the document of one URI.
func (a *Responder) batchAnswer(ctx context.Context, input string, b batch) (any, error) {
	if !b.rights.Allow() {
		return nil, problem.ErrRate
	}
	if len(input) > a.config.MaxTarget {
		return nil, problem.ErrTargetTooLong
	}
	q, err := resolver.ParseQuery(input, b.service)
	if err != nil {
		return nil, err
	}
	if !q.IsURN() && !b.rights.URLs {
		return nil, problem.ErrProxyClient
	}
	q = b.rights.Asking(q)
	if b.service == resolver.I2L {
		q = q.Selected()
	}
	switch q.Service {
	case resolver.I2C, resolver.I2Cs:
		d, _, _, err := a.describe(ctx, q)
		return d, err
	case resolver.I2N, resolver.I2Ns:
		names, err := a.otherNames(ctx, q)
		if err != nil {
			return nil, err
		}
		return names.document(q), nil
	case resolver.I2L, resolver.I2Ls:
		answer, err := a.config.Resolver.Resolve(ctx, q)
		if err != nil {
			return nil, err
		}
		return api.NewAnswer(q, answer, nil), nil
	default:
		return nil, &resolver.Negative{Kind: resolver.ErrService, Reason: q.Service.String() + " is not offered in batches"}
	}
}

// batch is what a batch asks.
type batch struct {
	inputs  []string
	service resolver.Service
	rights  BatchRights
}

// isLines reports whether the body of a batch has a URI on each line, and not JSON.
func isLines(header http.Header) bool {
	kind, _, err := mime.ParseMediaType(header.Get("Content-Type"))
	return err == nil && (kind == typePlain || kind == typeList)
}

// beginsJSON reports whether a body begins as JSON does, and no URI: scripts of pages send JSON
// as text/plain.
func beginsJSON(body *bufio.Reader) bool {
	for n := 1; ; n++ {
		peeked, err := body.Peek(n)
		if err != nil {
			return false
		}
		switch peeked[n-1] {
		case ' ', '\t', '\r', '\n':
		case '[', '"':
			return true
		default:
			return false
		}
	}
}

// readLines reads a text/uri-list, whose comments begin with "#" (RFC 2483 section 5), or plain
// lines.
func readLines(body io.Reader) ([]string, error) {
	var inputs []string
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, uri.MaxLength+2)
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		if inputs = append(inputs, line); len(inputs) > maxBatch {
			return nil, problem.ErrBatchSize
		}
	}
	var tooLong *http.MaxBytesError
	switch err := lines.Err(); {
	case errors.As(err, &tooLong):
		return nil, problem.ErrBatchSize
	case err != nil:
		return nil, fmt.Errorf("%w: reading the body: %w", problem.ErrBatch, err)
	default:
		return inputs, nil
	}
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
