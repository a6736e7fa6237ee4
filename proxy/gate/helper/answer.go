package helper

import "strings"

// Result is the result code of an answer, its first word.
type Result uint8

// The results. AF and NA of older protocols correspond to OK and ERR.
const (
	unknown Result = iota
	OK             // success: the user is authenticated, or the ACL matches
	ERR            // failure
	BH             // the helper is broken: neither success nor failure
	TT             // a token for the client, which has to send another one
)

// Pair is a keyword of an answer with its value, which may contain any byte.
type Pair struct{ Name, Value string }

// Answer is the parsed answer of a program. It is immutable.
type Answer struct {
	Result Result
	Pairs  []Pair // in order; keywords may be repeated
	Text   string // the text after the pairs: the reason, in older programs
}

// Value returns the first value of a keyword, "" if there is none.
func (a Answer) Value(name string) string {
	for _, pair := range a.Pairs {
		if pair.Name == name {
			return pair.Value
		}
	}
	return ""
}

// Values returns all values of a keyword.
func (a Answer) Values(name string) (values []string) {
	for _, pair := range a.Pairs {
		if pair.Name == name {
			values = append(values, pair.Value)
		}
	}
	return values
}

// User returns the user name, "" for none or for an invalid one, with a control character.
func (a Answer) User() string {
	user := a.Value("user")
	if strings.ContainsFunc(user, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return ""
	}
	return user
}

// Groups returns the groups of the user, those of Windows as SIDs in base64.
func (a Answer) Groups() []string { return a.Values("group") }

// Message returns the reason of the answer, for people; "" for none.
func (a Answer) Message() string {
	if message := a.Value("message"); message != "" {
		return message
	}
	if a.Result == OK {
		return ""
	}
	return a.Text
}

// size returns the memory of an answer in bytes, without its struct.
func (a Answer) size() int {
	size := len(a.Text)
	for _, pair := range a.Pairs {
		size += len(pair.Name) + len(pair.Value) + 32
	}
	return size
}

// parseAnswer parses a line without its channel-ID, as Squid does.
func parseAnswer(line string) Answer {
	word, rest, _ := strings.Cut(line, " ")
	rest = strings.TrimLeft(rest, spaces)
	var a Answer
	switch word {
	case "OK":
		a.Result = OK
	case "ERR":
		a.Result = ERR
	case "BH":
		a.Result = BH
	case "NA": // of NTLM and Negotiate, followed by a text only
		return Answer{Result: ERR, Text: rest}
	case "TT":
		token, _ := nextWord(rest)
		if token == "" {
			return Answer{Result: BH, Text: "TT without a token"}
		}
		return Answer{Result: TT, Pairs: []Pair{{"token", token}}}
	case "AF":
		return parseAF(rest)
	default:
		return Answer{}
	}
	a.Pairs, a.Text = parsePairs(rest)
	return a
}

// parseAF parses the arguments of AF: an optional token, and the user name.
func parseAF(rest string) Answer {
	first, rest := nextWord(rest)
	second, rest := nextWord(rest)
	a := Answer{Result: OK}
	switch {
	case second != "":
		a.Pairs = []Pair{{"token", first}, {"user", second}}
	case first != "":
		a.Pairs = []Pair{{"user", first}}
	default:
		return Answer{Result: BH, Text: "AF without a user"}
	}
	more, text := parsePairs(rest)
	a.Pairs, a.Text = append(a.Pairs, more...), text
	return a
}

const spaces = " \t\r\v\f"

// parsePairs parses pairs "name=value", and returns the rest as text. A value is in double quotes, or a word
// with percent-encodings.
func parsePairs(rest string) (pairs []Pair, text string) {
	for {
		name, after, ok := strings.Cut(rest, "=")
		if !ok || strings.ContainsFunc(name, func(r rune) bool { return !isNameRune(r) }) {
			return pairs, strings.TrimRight(rest, spaces)
		}
		if after != "" && strings.ContainsRune(spaces, rune(after[0])) {
			return pairs, strings.TrimRight(rest, spaces)
		}
		quoted := strings.HasPrefix(after, `"`)
		var value string
		value, rest = nextWord(after)
		if !quoted {
			value = unescape(value)
		}
		pairs = append(pairs, Pair{name, value})
		if rest == "" {
			return pairs, ""
		}
	}
}

func isNameRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_'
}

// nextWord returns the first word of a text, which ends at a space outside double quotes, without quotes and
// backslashes, and the rest after the spaces. "\n" and "\r" stand for LF and CR.
func nextWord(text string) (word, rest string) {
	var b strings.Builder
	quoted := false
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '"':
			quoted = !quoted
		case c == '\\' && i+1 < len(text):
			i++
			b.WriteByte(unbackslash(text[i]))
		case !quoted && strings.IndexByte(spaces, c) >= 0:
			return b.String(), strings.TrimLeft(text[i:], spaces)
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), ""
}

func unbackslash(c byte) byte {
	switch c {
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	}
	return c
}
