package nntp

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// maxToken is the maximum size of an HTML tag or text in bytes.
const maxToken = 1 << 20

// words returns the text of HTML without markup.
func words(markup string) string {
	tokens := html.NewTokenizer(strings.NewReader(markup))
	tokens.SetMaxBuf(maxToken)
	var b strings.Builder
	hidden := atom.Atom(0) // the element whose text is skipped
	for {
		switch tokens.Next() {
		case html.ErrorToken:
			return strings.TrimSpace(squeeze(b.String()))
		case html.TextToken:
			if hidden == 0 {
				b.Write(tokens.Text())
			}
		case html.StartTagToken:
			name, _ := tokens.TagName()
			switch tag := atom.Lookup(name); {
			case hidden != 0:
			case isHidden(tag):
				hidden = tag
			case !isInline(tag):
				b.WriteByte('\n')
			}
		case html.EndTagToken:
			name, _ := tokens.TagName()
			switch tag := atom.Lookup(name); {
			case hidden != 0 && tag == hidden:
				hidden = 0
			case hidden == 0 && isBlock(tag):
				b.WriteByte('\n')
			}
		}
	}
}

func isHidden(tag atom.Atom) bool {
	switch tag {
	case atom.Script, atom.Style, atom.Title, atom.Template, atom.Noscript:
		return true
	}
	return false
}

func isInline(tag atom.Atom) bool { return !isBlock(tag) && tag != atom.Br }

// isBlock reports whether an element is a block, which starts and ends a line.
func isBlock(tag atom.Atom) bool {
	switch tag {
	case atom.P, atom.Div, atom.Tr, atom.Table, atom.Li, atom.Ul, atom.Ol, atom.Dl, atom.Dt, atom.Dd, atom.Blockquote,
		atom.Pre, atom.Hr,
		atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Section, atom.Article, atom.Header, atom.Footer:
		return true
	}
	return false
}

// squeeze trims each line, and reduces consecutive empty lines to one.
func squeeze(text string) string {
	var b strings.Builder
	blank := true
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(strings.ReplaceAll(line, "\u00A0", " "))
		if line == "" && blank {
			continue
		}
		blank = line == ""
		b.WriteString(line)
		b.WriteByte('\n')
	}
	return b.String()
}
