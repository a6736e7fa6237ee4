package accesslog

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// apacheTokens returns the supported tokens of Apache's mod_log_config, by the text after the percent sign,
// with field names in lower case. Tokens with noValue are common, but do not apply to urnd.
func apacheTokens() map[string]part {
	quoted := apacheQuoted()
	text := func(v value) part { return part{value: v, quote: quoted} }
	number := func(v value) part { return part{value: v, isNumber: true} }
	query := text(queryValue)
	query.blank = true
	at, _ := strftime("[%d/%b/%Y:%H:%M:%S %z]", began) // the format is valid
	return map[string]part{
		"%": {value: constant("%")}, "a": text(clientValue), "h": text(clientValue), "l": {value: noValue},
		"u": text(userValue), "t": {value: at}, "r": text(requestLineValue), "s": number(statusValue),
		"b": number(someBytesValue), "B": number(bytesValue), "D": number(tookValue(time.Microsecond)),
		"T": number(tookValue(time.Second)), "{us}T": number(tookValue(time.Microsecond)),
		"{ms}T": number(tookValue(time.Millisecond)), "{s}T": number(tookValue(time.Second)), "H": text(protoValue),
		"m": text(methodValue), "q": query, "U": text(pathValue), "v": text(hostValue), "V": text(hostValue),
		"p": text(portValue), "L": text(requestIDValue), "{referer}i": text(refererValue),
		"{user-agent}i": text(userAgentValue), "{host}i": text(hostFieldValue), "{content-type}o": text(typeValue),
		"{x-request-id}o": text(requestIDValue), "{cache}n": text(cacheValue), "{rule}n": text(ruleValue),
		"{denied}n": {value: deniedValue}, "{form}n": text(formValue), "{service}n": text(serviceValue),
		"{request_id}n": text(requestIDValue),
		"{origin}n":     text(serverValue),
	}
}

// apacheInstead returns replacements for tokens of Apache that are not supported.
func apacheInstead() map[string]string {
	return map[string]string{
		"O": "B", "S": "B", "I": "B", "f": "U", "R": "{form}n", "A": "v", "P": "L", "k": "L",
		"X": "s", "{c}a": "a",
	}
}

// parseApache returns the syntax of Apache's LogFormat.
func parseApache(t *template) syntax {
	tokens := apacheTokens()
	return syntax{t.apacheLiteral, func() error { return t.apacheToken(tokens) }}
}

// apacheLiteral reads a byte of text or an escape sequence.
func (t *template) apacheLiteral() error {
	c := t.text[t.at]
	t.at++
	if c != '\\' || t.at == len(t.text) {
		return t.addByte(c)
	}
	switch next := t.text[t.at]; next {
	case 't':
		c = '\t'
	case 'n', 'r':
		return fmt.Errorf(`\%c would end the line, which has its own end: delete it`, next)
	case '"', '\\', '\'':
		c = next
	default: // the backslash is literal
		return t.addByte(c)
	}
	t.at++
	return t.addByte(c)
}

// apacheToken reads a token: an optional list of statuses, the modifiers < and > (equivalent, since urnd has no
// internal redirects), an optional argument in braces, and a letter.
func (t *template) apacheToken(tokens map[string]part) error {
	statuses, except, err := t.apacheStatuses()
	if err != nil {
		return err
	}
	argument, hasArgument := "", false
	for range 3 {
		t.at += len(t.text[t.at:]) - len(strings.TrimLeft(t.text[t.at:], "<>"))
		if hasArgument {
			break
		}
		if argument, hasArgument, err = t.argument(); err != nil {
			return err
		}
	}
	if t.at == len(t.text) {
		return errors.New("a token is incomplete: write %% for a percent sign")
	}
	letter := t.text[t.at : t.at+1]
	t.at++
	name := letter
	if hasArgument {
		name = "{" + argument + "}" + letter
	}
	p, known := tokens[name]
	if !known && (letter == "i" || letter == "o") {
		p, known = tokens[strings.ToLower(name)]
	}
	if !known && letter == "t" && hasArgument {
		p, err = apacheTime(argument)
		known = err == nil
	}
	if err != nil {
		return err
	}
	if !known {
		return unknown(name, tokens, apacheInstead())
	}
	p.statuses, p.except = statuses, except
	t.add(p)
	return nil
}

// apacheStatuses reads a list of statuses such as "!200,304", for which a token is written, or with "!" is not.
func (t *template) apacheStatuses() (statuses []int, except bool, err error) {
	except = t.skip('!')
	for t.at < len(t.text) {
		n, isNumber, err := t.number()
		if err != nil {
			return nil, false, err
		}
		if isNumber {
			statuses = append(statuses, n)
		}
		if !isNumber || !t.skip(',') {
			break
		}
	}
	if except && len(statuses) == 0 {
		return nil, false, errors.New("the exclamation mark is not followed by a status")
	}
	return statuses, except, nil
}

// apacheTime returns the token %{format}t.
func apacheTime(format string) (part, error) {
	at := began
	if rest, isEnd := strings.CutPrefix(format, "end:"); isEnd {
		at, format = ended, rest
	}
	format = strings.TrimPrefix(format, "begin:")
	switch format {
	case "":
		v, err := strftime("[%d/%b/%Y:%H:%M:%S %z]", at)
		return part{value: v}, err
	case "sec":
		return part{value: epochValue(at, time.Second)}, nil
	case "msec":
		return part{value: epochValue(at, time.Millisecond)}, nil
	case "usec":
		return part{value: epochValue(at, time.Microsecond)}, nil
	case "msec_frac":
		return part{value: fractionValue(at, 3, true)}, nil
	case "usec_frac":
		return part{value: fractionValue(at, 6, true)}, nil
	}
	v, err := strftime(format, at)
	return part{value: v, quote: apacheQuoted()}, err
}
