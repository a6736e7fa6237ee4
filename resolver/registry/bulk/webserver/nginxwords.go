package webserver

import (
	"errors"
	"fmt"
	"strings"
)

// block is a directive of nginx, with the directives in its braces.
type block struct {
	line     int64
	words    []string
	children []*block
}

// text returns the directive without its braces.
func (b *block) text() string { return strings.Join(b.words, " ") }

// name returns the first word.
func (b *block) name() string { return b.words[0] }

// nginxReader tokenizes a configuration like ngx_conf_read_token.
type nginxReader struct {
	text string
	at   int
	line int64
}

var errInDirective = errors.New("unterminated directive")

// blocks parses directives up to the end of a block.
func (n *nginxReader) blocks(depth int) (all []*block, err error) {
	if depth == maxDepth {
		return nil, errors.New("blocks nested too deep")
	}
	for {
		b := &block{}
		var end byte
		if b.words, end, b.line, err = n.words(); err != nil {
			return nil, err
		}
		switch {
		case end == '}' && depth == 0:
			return nil, fmt.Errorf("line %d: unexpected closing brace", n.line)
		case end == 0 && depth > 0:
			return nil, errors.New("unterminated block")
		case end == '}', end == 0:
			return all, nil
		case end == '{':
			if b.children, err = n.blocks(depth + 1); err != nil {
				return nil, err
			}
		}
		if len(b.words) > 0 {
			all = append(all, b)
		}
	}
}

// words parses words up to a semicolon or a brace, which it returns as end; 0 is the end of the text.
func (n *nginxReader) words() (words []string, end byte, line int64, err error) {
	for {
		n.skip()
		if n.at == len(n.text) {
			if len(words) > 0 {
				return nil, 0, 0, errInDirective
			}
			return nil, 0, n.line, nil
		}
		if len(words) == 0 {
			line = n.line
		}
		switch c := n.text[n.at]; c {
		case ';', '{', '}':
			n.at++
			return words, c, line, nil
		default:
			word, err := n.word()
			if err != nil {
				return nil, 0, 0, err
			}
			words = append(words, word)
		}
	}
}

// skip skips white space and comments.
func (n *nginxReader) skip() {
	for ; n.at < len(n.text); n.at++ {
		switch c := n.text[n.at]; {
		case c == '\n':
			n.line++
		case c == '#':
			n.at += strings.IndexByte(n.text[n.at:]+"\n", '\n') - 1
		case c != ' ' && c != '\t' && c != '\r':
			return
		}
	}
}

// word parses a word, which may be quoted.
func (n *nginxReader) word() (string, error) { //nolint:cyclop // one case per character
	quote := n.text[n.at]
	if quote != '"' && quote != '\'' {
		quote = 0
	} else {
		n.at++
	}
	var b strings.Builder
	for ; n.at < len(n.text); n.at++ {
		c := n.text[n.at]
		if b.Len() > maxLine {
			return "", ErrTooLong
		}
		switch {
		case quote != 0 && c == quote:
			n.at++
			return b.String(), nil
		case quote == 0 && (strings.IndexByte(" \t\r\n;", c) >= 0 || c == '{' && !strings.HasSuffix(b.String(), "$")):
			return b.String(), nil
		case c == '\\' && n.at+1 < len(n.text):
			n.at++
			next := n.text[n.at]
			if i := strings.IndexByte("tnr", next); i >= 0 {
				b.WriteByte("\t\n\r"[i])
				continue
			}
			if strings.IndexByte(`"'\`, next) < 0 {
				b.WriteByte(c)
			}
			c = next
		}
		if c == '\n' {
			n.line++
		}
		b.WriteByte(c)
	}
	return "", errInDirective
}
