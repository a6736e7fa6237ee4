package pages

import (
	"html/template"
	"slices"
	"strings"
)

// sentence is what other packages say in English, as problems do, in all languages: in the order of Languages.
type sentence [languages]string

// sentences returns all of them. What is in no row is shown in English, and marked so.
func sentences() []sentence {
	return slices.Concat(statusSentences(), nameSentences(), requestSentences(), serverSentences())
}

// said is what was said in English: what of it the language of a page has, and the rest in English.
type said struct{ Known, English string }

// HTML returns both, with a mark of what is in English.
func (s said) HTML() template.HTML {
	known := template.HTMLEscapeString(s.Known)
	if s.English != "" {
		known += `<span lang="en">` + template.HTMLEscapeString(s.English) + "</span>"
	}
	return template.HTML(known) //nolint:gosec // escaped
}

// say returns the words in a language of what was said in English: as a whole, without the setting or section in parentheses
// behind it, or the part before its first colon.
func (w Writer) say(english string) said {
	if w.language == English {
		return said{Known: english}
	}
	if known, ok := w.Sentence(english); ok {
		return said{Known: known}
	}
	if at := strings.LastIndex(english, " ("); at > 0 && strings.HasSuffix(english, ")") {
		if before := w.say(english[:at]); before.Known != "" && before.English == "" {
			return said{Known: before.Known + english[at:]}
		}
	}
	if kind, rest, ok := strings.Cut(english, ": "); ok {
		if known, ok := w.Sentence(kind); ok {
			more := w.say(rest)
			return said{known + w.Text("frame.colon") + more.Known, more.English}
		}
	}
	return said{English: english}
}

// Sentence returns what is said in English in the language of the pages, and false where it is not known in that.
func (w Writer) Sentence(english string) (string, bool) {
	if w.language == English {
		return english, true
	}
	known, ok := w.design.sentences[english]
	if !ok {
		return "", false
	}
	return known[w.language], true
}

// sentenceOf returns a text with the stop that it may have already.
func sentenceOf(text string) string {
	if text == "" || strings.ContainsAny(text[len(text)-1:], ".?!") {
		return text
	}
	return text + "."
}

// stopped is say with a stop at the end.
func (w Writer) stopped(english string) said {
	s := w.say(english)
	if s.English != "" {
		s.English = sentenceOf(s.English)
		return s
	}
	if w.language == Chinese {
		s.Known = strings.TrimSuffix(s.Known, "。") + "。"
		return s
	}
	s.Known = sentenceOf(s.Known)
	return s
}
