package ftp

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/urnd/urnd/resolver/scheme"
)

// reply is what a server answers to a command: RFC 959 section 4.2.
type reply struct {
	code  int
	lines []string // without the code; the last is the end of the reply
	// secret is the password that was sent on the connection; "" for none. What is made for people does not
	// have it, also where the server repeats it.
	secret string
}

// ok reports whether the command is done.
func (r reply) ok() bool { return r.code/100 == 2 }

// text returns the last line with its code, for people.
func (r reply) text() string { return fmt.Sprintf("%d %s", r.code, hidden(r.last(), r.secret)) }

// hidden returns a text without a secret.
func hidden(text, secret string) string {
	if secret == "" {
		return text
	}
	return strings.ReplaceAll(text, secret, "***")
}

func (r reply) last() string { return r.lines[len(r.lines)-1] }

// message returns the lines before the last, which servers write for people, without empty ones.
func (r reply) message() []string {
	var lines []string
	for _, line := range r.lines[:len(r.lines)-1] {
		if line = strings.TrimSpace(scheme.Text(hidden(line, r.secret))); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// maxReplyLines bounds the lines of a reply.
const maxReplyLines = 1000

// readReply reads a reply. A line is no longer than the buffer of in, and all of them have at most as many
// octets. secret is that of the reply.
func readReply(in *bufio.Reader, secret string) (reply, error) {
	r := reply{secret: secret}
	lines := scheme.Lines{In: in, Line: in.Size(), Octets: int64(in.Size())}
	for range maxReplyLines {
		text, err := lines.Next()
		switch {
		case errors.Is(err, scheme.ErrLongLine), errors.Is(err, scheme.ErrManyOctets):
			return reply{}, fmt.Errorf("%w: a reply is longer than %d octets", scheme.ErrResponse, in.Size())
		case errors.Is(err, io.EOF):
			return reply{}, io.ErrUnexpectedEOF
		case err != nil:
			return reply{}, err
		}
		code, isCoded := codeOf(text)
		switch {
		case r.code == 0 && !isCoded:
			return reply{}, fmt.Errorf("%w: %.40q begins no reply of FTP", scheme.ErrResponse, hidden(text, secret))
		case r.code == 0:
			r.code = code
		case !isCoded || code != r.code:
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
	return reply{}, fmt.Errorf("%w: a reply has more than %d lines", scheme.ErrResponse, maxReplyLines)
}

const codeLength = 3

// codeOf returns the code that a line of a reply begins with: three digits, of which the first is 1 to 6,
// and a space, a hyphen or the end.
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
