package bulk

import (
	"errors"
	"io"
	"strings"
)

// words reads the words up to a semicolon or a brace, which is end, as nginx reads its configuration.
func (n *nginx) words() (words []string, end byte, line int64, err error) { //nolint:cyclop // a case is a kind of character
	var b strings.Builder
	inWord := false
	take := func() {
		if inWord {
			words = append(words, b.String())
			b.Reset()
			inWord = false
		}
	}
	for size := 0; ; size++ {
		if size > maxLine {
			return nil, 0, 0, errLong
		}
		c, err := n.r.ReadByte()
		if errors.Is(err, io.EOF) && (inWord || len(words) > 0) {
			return nil, 0, 0, errors.New("it ends within a directive")
		}
		if err != nil {
			return nil, 0, 0, err
		}
		if line == 0 && !strings.ContainsRune(" \t\r\n", rune(c)) {
			line = n.line
		}
		switch {
		case c == '\n':
			n.line++
			take()
		case c == ' ' || c == '\t' || c == '\r':
			take()
		case c == '#' && !inWord:
			if err := n.comment(); err != nil && !errors.Is(err, io.EOF) {
				return nil, 0, 0, err
			}
			if len(words) == 0 {
				line = 0
			}
		case (c == '"' || c == '\'') && !inWord:
			text, err := n.quoted(c)
			if err != nil {
				return nil, 0, 0, err
			}
			size += len(text)
			words = append(words, text)
		case c == ';', c == '}', c == '{' && !strings.HasSuffix(b.String(), "$"):
			take()
			return words, c, line, nil
		case c == '{': // of a variable: ${name}
			name, err := n.until('}')
			if err != nil {
				return nil, 0, 0, err
			}
			b.WriteString("{" + name + "}")
		default:
			inWord = true
			b.WriteByte(c)
			if c == '\\' {
				if c, err = n.r.ReadByte(); err != nil {
					return nil, 0, 0, io.ErrUnexpectedEOF
				}
				b.WriteByte(c)
			}
		}
	}
}

// comment leaves out the rest of a line.
func (n *nginx) comment() error {
	for {
		c, err := n.r.ReadByte()
		if err != nil {
			return err
		}
		if c == '\n' {
			n.line++
			return nil
		}
	}
}

// quoted reads up to a quotation mark.
func (n *nginx) quoted(mark byte) (string, error) {
	var b strings.Builder
	for b.Len() < maxLine {
		c, err := n.r.ReadByte()
		if err != nil {
			return "", io.ErrUnexpectedEOF
		}
		switch c {
		case mark:
			return b.String(), nil
		case '\n':
			n.line++
		case '\\':
			next, err := n.r.ReadByte()
			if err != nil {
				return "", io.ErrUnexpectedEOF
			}
			if next != mark && next != '\\' {
				b.WriteByte(c)
			}
			c = next
		}
		b.WriteByte(c)
	}
	return "", errLong
}

// until reads up to a character.
func (n *nginx) until(end byte) (string, error) {
	var b strings.Builder
	for b.Len() < maxLine {
		c, err := n.r.ReadByte()
		switch {
		case err != nil:
			return "", io.ErrUnexpectedEOF
		case c == end:
			return b.String(), nil
		case c == '\n':
			n.line++
		}
		b.WriteByte(c)
	}
	return "", errLong
}
