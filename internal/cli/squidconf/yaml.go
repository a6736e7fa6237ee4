package squidconf

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// document is the configuration of urnd as text, with comments.
type document struct {
	sections []*section
}

type section struct {
	name     string
	settings []setting
}

// setting is a key with its value as YAML, which may have several lines.
type setting struct {
	key, value string
	comments   []string
}

// order is that of the sections in the file.
var order = [...]string{"listen", "tls", "dns", "cache", "access", "proxy", "limits", "log"}

// set sets a value, and replaces one that is there already, as the last directive decides.
func (d *document) set(path, value string, comments ...string) {
	name, key, _ := strings.Cut(path, ".")
	at := slices.IndexFunc(d.sections, func(s *section) bool { return s.name == name })
	if at < 0 {
		d.sections = append(d.sections, &section{name: name})
		at = len(d.sections) - 1
	}
	s := d.sections[at]
	one := setting{key, value, comments}
	if i := slices.IndexFunc(s.settings, func(other setting) bool { return other.key == key }); i >= 0 {
		s.settings[i] = one
		return
	}
	s.settings = append(s.settings, one)
}

// text returns the file.
func (d *document) text() string {
	var all strings.Builder
	for _, name := range order {
		at := slices.IndexFunc(d.sections, func(s *section) bool { return s.name == name })
		if at < 0 {
			continue
		}
		all.WriteString(name + ":\n")
		for _, one := range d.sections[at].settings {
			for _, comment := range one.comments {
				all.WriteString("  # " + comment + "\n")
			}
			separator := " "
			if strings.HasPrefix(one.value, "\n") {
				separator = ""
			}
			all.WriteString("  " + one.key + ":" + separator + one.value + "\n")
		}
	}
	return all.String()
}

// plainText is what YAML takes for a text without quotation marks: words, names of hosts, IPv4 addresses and networks, ranges of ports.
var plainText = regexp.MustCompile(`^([A-Za-z/][A-Za-z0-9._/-]*|\.[a-z][a-z0-9-]*\.[a-z][a-z0-9.-]*|[0-9]+(\.[0-9]+){3}(/[0-9]+)?|[0-9]+-[0-9]+)$`)

// quote returns a text as a scalar of YAML.
func quote(text string) string {
	if plainText.MatchString(text) && !slices.Contains([]string{"y", "n", "yes", "no", "on", "off", "true", "false", "null"}, strings.ToLower(text)) {
		return text
	}
	if plain := Plain(text); plain != text {
		escaped, _ := json.Marshal(text) // a string of JSON is one of YAML; a text has no error
		return string(escaped)
	}
	return "'" + strings.ReplaceAll(text, "'", "''") + "'"
}

// list returns texts as a sequence, with further lines at an indentation.
func list(texts []string, indent string) string {
	const width = 120
	var all strings.Builder
	all.WriteByte('[')
	column := len(indent) + 12
	for i, text := range texts {
		text = quote(text)
		if i > 0 {
			all.WriteByte(',')
			if column+len(text) > width {
				all.WriteString("\n" + indent + "  ")
				column = len(indent)
			} else {
				all.WriteByte(' ')
			}
		}
		column += len(text) + 2
		all.WriteString(text)
	}
	all.WriteByte(']')
	return all.String()
}

// Plain returns a text for one line: without what ends it, and not too long.
func Plain(text string) string {
	const most = 400
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == 0x85 || r == 0x2028 || r == 0x2029 || r == 0xfeff || r == 0xfffd || r >= 0x80 && r < 0xa0 {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "?"))
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > most {
		text = string(runes[:most]) + " ..."
	}
	return text
}
