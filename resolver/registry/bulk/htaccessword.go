package bulk

import (
	"errors"
	"fmt"
	"strings"
)

// apacheWords divides a directive of Apache: words are quoted by " or ', and a backslash is before what would end one.
func apacheWords(text string) ([]string, error) {
	var words []string
	for text = strings.TrimLeft(text, " \t"); text != ""; text = strings.TrimLeft(text, " \t") {
		quote := byte(0)
		if text[0] == '"' || text[0] == '\'' {
			quote, text = text[0], text[1:]
		}
		word, rest, ended := apacheWord(text, quote)
		if !ended && quote != 0 {
			return nil, errors.New("a quotation mark is not closed")
		}
		words, text = append(words, word), rest
	}
	return words, nil
}

// apacheWord returns the word that a text begins with, up to its quotation mark or a space, and what follows.
func apacheWord(text string, quote byte) (word, rest string, ended bool) {
	isEnd := func(c byte) bool { return quote != 0 && c == quote || quote == 0 && (c == ' ' || c == '\t') }
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c == '\\' && i+1 < len(text) && text[i+1] != '\t' && isEnd(text[i+1]) {
			i++
			c = text[i]
		} else if isEnd(c) {
			return b.String(), text[i+1:], true
		}
		b.WriteByte(c)
	}
	return b.String(), "", false
}

// flagsOfRewrite are the flags of a RewriteRule that matter.
type flagsOfRewrite struct {
	status                  string // "" is none
	noEscape, gone, anyCase bool
	losses                  []string
}

// rewriteFlags reads the flags of a RewriteRule, such as [R=303,L].
func rewriteFlags(words []string) (f flagsOfRewrite, err error) {
	redirects := false
	for flag := range strings.SplitSeq(strings.Trim(strings.Join(words, ""), "[] "), ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(flag), "=")
		switch strings.ToUpper(name) {
		case "", "L", "LAST", "END", "DPI", "PT":
		case "R", "REDIRECT":
			redirects = true
			f.status, err = statusNumber(value)
			if err != nil {
				return f, err
			}
		case "G", "GONE":
			f.gone, redirects = true, true
		case "NE", "NOESCAPE":
			f.noEscape = true
		case "NC", "NOCASE":
			f.anyCase = true
		case "QSA", "QSAPPEND": // so it is where urnd answers for the host
		case "QSD", "QSDISCARD":
			f.losses = append(f.losses, "the flag QSD: where urnd answers for the host, the query of a request is appended")
		default:
			return f, fmt.Errorf("its flag %s has nothing like it in the registry", name)
		}
	}
	if f.status == "410" {
		f.gone = true
	}
	if !redirects {
		f.losses = append(f.losses, "it has no flag R: clients are redirected nevertheless")
	}
	return f, nil
}

// redirectStatus takes the status that a Redirect may begin with.
func redirectStatus(name string, words []string) (string, []string, error) {
	switch name {
	case "redirectpermanent":
		return "301", words, nil
	case "redirecttemp":
		return "302", words, nil
	}
	if len(words) == 0 || strings.HasPrefix(words[0], "/") || strings.HasPrefix(words[0], "^") {
		return "302", words, nil
	}
	status, err := statusNumber(words[0])
	return status, words[1:], err
}

// statusNumber returns the number of a status that leads on, or of one that is gone.
func statusNumber(text string) (string, error) {
	switch strings.ToLower(text) {
	case "", "temp", "302":
		return "302", nil
	case "permanent", "301":
		return "301", nil
	case "seeother", "303":
		return "303", nil
	case "gone", "410":
		return "410", nil
	case "307", "308":
		return text, nil
	default:
		return "", fmt.Errorf("the status %.20q leads nowhere", text)
	}
}
