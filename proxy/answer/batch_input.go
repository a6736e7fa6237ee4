package answer

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/problem"
)

// maxEcho limits the part of a failed name that its line repeats, in bytes.
const maxEcho = 1 << 10

// input is one name of a batch. Of a name that is too long, only the beginning is stored.
type input struct {
	text string
	long bool
}

// newInput returns an input of at most limit bytes.
func newInput(text string, limit int) input {
	if len(text) > limit {
		return input{beginning(text, maxEcho), true}
	}
	// The first non-ASCII byte makes a name invalid. The rest need not be stored: JSON triples the size of
	// text that is not UTF-8.
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return input{text: beginning(text, max(i+utf8.UTFMax, maxEcho))}
		}
	}
	return input{text: text}
}

// beginning returns at most n bytes of a text, without splitting a character. A shortened text is a copy.
func beginning(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return strings.Clone(text[:n])
}

// readInputs reads the names of a batch: lines, or JSON. It limits each name and the whole body.
func (a *Responder) readInputs(r *BatchRequest) ([]input, error) {
	body := bufio.NewReader(a.inTime(&boundedBody{r.Body, maxBatchBody}))
	var inputs []input
	var err error
	if isLines(r.Header) && !beginsJSON(body) {
		inputs, err = readLines(body, a.config.MaxTarget)
	} else {
		inputs, err = readBatch(body, a.config.MaxTarget)
	}
	switch {
	case errors.Is(err, problem.ErrBatchSize):
		return nil, problem.ErrBatchSize
	case err != nil:
		return nil, err
	case len(inputs) > maxBatch:
		return nil, problem.ErrBatchSize
	default:
		return inputs, nil
	}
}

// boundedBody is a body that fails with ErrBatchSize if it is too long.
type boundedBody struct {
	from io.Reader
	left int // bytes
}

// Read implements io.Reader.
func (b *boundedBody) Read(p []byte) (int, error) {
	n, err := b.from.Read(p[:min(len(p), b.left+1)]) // one more byte shows that it is too long
	if n > b.left {
		n, err = b.left, problem.ErrBatchSize
	}
	b.left -= n
	return n, err
}

// inTime returns a body that must be received within clientTimeout.
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
		return n, err
	})
}

// readerFunc adapts a function to io.Reader.
type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// isLines reports whether the media type of a batch is one with a URI per line, and not JSON.
func isLines(header httpmessage.Header) bool {
	kind, _, err := mime.ParseMediaType(header.Get("Content-Type"))
	return err == nil && (kind == typePlain || kind == typeList)
}

// beginsJSON reports whether a body begins like JSON, as no URI does: scripts of pages send JSON as
// text/plain.
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

// readLines reads a text/uri-list, whose comments begin with "#" (RFC 2483 section 5), or plain lines. It
// reads at most one name more than a batch may have.
func readLines(body *bufio.Reader, limit int) ([]input, error) {
	var inputs []input
	for len(inputs) <= maxBatch {
		line, err := readLine(body, limit+1)
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			inputs = append(inputs, newInput(line, limit))
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%w: reading the body: %w", problem.ErrBatchSyntax, err)
		}
	}
	return inputs, nil
}

// readLine returns the first bytes of a line, without leading white space, and skips the rest of it.
func readLine(body *bufio.Reader, most int) (string, error) {
	var line []byte
	for {
		part, err := body.ReadSlice('\n')
		if len(line) == 0 {
			part = bytes.TrimLeft(part, " \t\r\n")
		}
		line = append(line, part[:min(len(part), max(most-len(line), 0))]...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return string(line), err
		}
	}
}

// readBatch reads a JSON array of strings, or a sequence of JSON strings. It reads at most one name more than
// a batch may have.
func readBatch(body io.Reader, limit int) ([]input, error) {
	decoder := json.NewDecoder(&boundedJSON{from: body, most: escaped * (limit + 1)})
	var inputs []input
	inArray := false
	for len(inputs) <= maxBatch {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) && !inArray {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%w: reading the body: %w", problem.ErrBatchSyntax, err)
		}
		switch token := token.(type) {
		case string:
			inputs = append(inputs, newInput(token, limit))
		case json.Delim:
			if token != '[' && token != ']' || inArray == (token == '[') {
				return nil, fmt.Errorf("%w: unexpected %q", problem.ErrBatchSyntax, token.String())
			}
			inArray = token == '['
		default:
			return nil, fmt.Errorf("%w: %v is not a string", problem.ErrBatchSyntax, token)
		}
	}
	return inputs, nil
}
