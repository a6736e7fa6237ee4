package formats_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// turtleReader parses the subset of Turtle 1.1 section 6.5 that urnd writes (prefixes, IRIs, prefixed names,
// blank node labels, literals, lists of predicates and objects, and blank nodes in brackets) to N-Quads.
type turtleReader struct {
	rest     string
	prefixes map[string]string
	quads    []string
	blank    int
}

var turtleTokens = regexp.MustCompile(`^(?:` +
	`<[^\x00-\x20<>"{}|^` + "`" + `\\]*>|` + // IRIREF, without escapes
	`"(?:[^\x22\x5C\x0A\x0D]|\\[tbnrf"'\\])*"|` + // STRING_LITERAL_QUOTE
	`_:[A-Za-z0-9]+|@prefix|[A-Za-z]+:[A-Za-z]*|a|\^\^|[][;,.])`)

func readTurtle(text string) (quads string, err error) {
	r := &turtleReader{rest: text, prefixes: map[string]string{}}
	defer func() {
		if failure, ok := recover().(error); ok {
			err = failure
		}
	}()
	for r.peek() != "" {
		r.statement()
	}
	return strings.Join(r.quads, ""), nil
}

func (r *turtleReader) peek() string {
	r.rest = strings.TrimLeft(r.rest, " \n")
	token := turtleTokens.FindString(r.rest)
	if token == "" && r.rest != "" {
		panic(fmt.Errorf("at %.60q", r.rest))
	}
	return token
}

func (r *turtleReader) next() string {
	token := r.peek()
	r.rest = r.rest[len(token):]
	return token
}

func (r *turtleReader) expect(token string) {
	if got := r.next(); got != token {
		panic(fmt.Errorf("%q instead of %q before %.60q", got, token, r.rest))
	}
}

func (r *turtleReader) statement() {
	if r.peek() == "@prefix" {
		r.next()
		name, iri := r.next(), r.next()
		r.prefixes[strings.TrimSuffix(name, ":")] = strings.Trim(iri, "<>")
		r.expect(".")
		return
	}
	subject := r.object()
	r.predicates(subject)
	r.expect(".")
}

func (r *turtleReader) predicates(subject string) {
	for {
		predicate := "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
		if r.peek() == "a" {
			r.next()
		} else {
			predicate = r.iri(r.next())
		}
		for {
			r.quads = append(r.quads, subject+" "+predicate+" "+r.object()+" .\n")
			if r.peek() != "," {
				break
			}
			r.next()
		}
		if r.peek() != ";" {
			return
		}
		r.next()
	}
}

// iri returns an IRI or a prefixed name as an IRI.
func (r *turtleReader) iri(token string) string {
	if strings.HasPrefix(token, "<") {
		return token
	}
	prefix, name, _ := strings.Cut(token, ":")
	base, ok := r.prefixes[prefix]
	if !ok || name == "" {
		panic(fmt.Errorf("no term: %q", token))
	}
	return "<" + base + name + ">"
}

func (r *turtleReader) object() string {
	switch token := r.next(); {
	case token == "[":
		r.blank++
		label := "_:b" + strconv.Itoa(r.blank)
		if r.peek() != "]" {
			r.predicates(label)
		}
		r.expect("]")
		return label
	case strings.HasPrefix(token, "_:"):
		return token
	case strings.HasPrefix(token, `"`):
		if r.peek() == "^^" {
			r.next()
			return token + "^^" + r.iri(r.next())
		}
		return token
	default:
		return r.iri(token)
	}
}
