package ftp

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/urnd/urnd/resolver/scheme"
)

// reply is a reply of the server: RFC 959 section 4.2.
type reply struct {
	code  int
	lines []string // without the code; the last one ends the reply
	// secret is the password that was sent on the connection, "" for none. Texts for people do not contain it,
	// even if the server repeats it.
	secret string
}

// ok reports whether the command succeeded.
func (r reply) ok() bool { return r.code/100 == 2 }

// text returns the last line with its code, for people, without the password.
func (r reply) text() string { return fmt.Sprintf("%d %s", r.code, hidden(r.last(), r.secret)) }

// hidden returns text with the secret masked.
func hidden(text, secret string) string {
	if secret == "" {
		return text
	}
	return strings.ReplaceAll(text, secret, "***")
}

func (r reply) last() string { return r.lines[len(r.lines)-1] }

// message returns the non-empty lines before the last one, which servers write for people.
func (r reply) message() []string {
	var lines []string
	for _, line := range r.lines[:len(r.lines)-1] {
		if line = strings.TrimSpace(scheme.DecodeText(hidden(line, r.secret))); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// maxReplyLines is the maximum number of lines of a reply.
const maxReplyLines = 1000

// readReply reads a reply. The buffer size of in limits the bytes of each line, and of all lines together.
// secret is reply.secret.
func readReply(in *bufio.Reader, secret string) (reply, error) {
	r := reply{secret: secret}
	lines := scheme.LineReader{In: in, Line: in.Size(), Bytes: int64(in.Size())}
	for range maxReplyLines {
		text, err := lines.Next()
		switch {
		case errors.Is(err, scheme.ErrLongLine), errors.Is(err, scheme.ErrTooManyBytes):
			return reply{}, fmt.Errorf("%w: reply exceeds %d bytes", scheme.ErrInvalidResponse, in.Size())
		case errors.Is(err, io.EOF):
			return reply{}, io.ErrUnexpectedEOF
		case err != nil:
			return reply{}, err
		}
		code, coded := codeOf(text)
		switch {
		case r.code == 0 && !coded:
			return reply{}, fmt.Errorf("%w: not an FTP reply: %.40q", scheme.ErrInvalidResponse, hidden(text, secret))
		case r.code == 0:
			r.code = code
		case !coded || code != r.code:
			r.lines = append(r.lines, text)
			continue
		}
		if len(text) <= codeLength {
			r.lines = append(r.lines, "")
			return r, nil
		}
		r.lines = append(r.lines, text[codeLength+1:])
		if text[codeLength] == ' ' {
			return r, nil
		}
	}
	return reply{}, fmt.Errorf("%w: reply exceeds %d lines", scheme.ErrInvalidResponse, maxReplyLines)
}

const codeLength = 3

// codeOf returns the reply code at the start of a line: three digits, the first from 1 to 6, followed by a
// space, a hyphen or the end.
func codeOf(line string) (code int, ok bool) {
	if len(line) < codeLength || len(line) > codeLength && line[codeLength] != ' ' && line[codeLength] != '-' {
		return 0, false
	}
	for i := range codeLength {
		if line[i] < '0' || line[i] > '9' {
			return 0, false
		}
		code = code*10 + int(line[i]-'0')
	}
	return code, code >= 100 && code < 700
}
