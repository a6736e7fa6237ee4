package accesslog

import (
	"errors"
	"strings"
	"time"
)

const squidTime = "%d/%b/%Y:%H:%M:%S %z"

// squidTokens returns the supported format codes of Squid's logformat, without "http::", and prefixed by their
// argument in braces with field names in lower case. Codes with noValue are common, but do not apply to urnd.
func squidTokens(quotings map[byte]*quoting) map[string]part {
	text := func(v value) part { return part{value: v, quote: quotings['u']} }
	word := func(v value) part { return part{value: v, quote: quotings['w']} }
	number := func(v value) part { return part{value: v, isNumber: true} }
	none := part{value: noValue}
	return map[string]part{
		"%":  {value: constant("%"), isNumber: true}, // no encoding applies
		">a": word(clientValue), ">A": word(clientValue), "<a": word(serverValue), "<A": word(serverValue),
		"<p": number(serverPortValue), "ts": number(epochValue(ended, time.Second)),
		"tu": number(fractionValue(ended, 3, false)),
		"tr": number(tookValue(time.Millisecond)),
		"tS": {}, "tl": {}, "tg": {}, // see squidWhen
		"un": text(userValue), "ul": text(userValue), "ue": none, "ui": none, "us": none, "et": none, "ea": none,
		"rm": word(methodValue), ">rm": word(methodValue), "ru": word(urlValue), ">ru": text(urlValue),
		">rs": word(schemeValue), ">rd": word(hostValue), ">rP": word(portValue), "rp": word(pathQueryValue),
		">rp": word(pathQueryValue), "rv": word(versionValue), ">rv": word(versionValue),
		"Hs": number(wholeStatusValue), ">Hs": number(wholeStatusValue), "mt": word(mediaTypeValue),
		"<st": number(bytesValue), "Ss": {value: squidCodeValue}, "Sh": {value: hierarchyValue}, "err_code": none,
		"err_detail": none, "{referer}>h": text(refererValue), "{user-agent}>h": text(userAgentValue),
		"{host}>h": text(hostFieldValue), "{content-type}<h": text(typeValue), "{x-request-id}<h": text(requestIDValue),
		"{cache}note": text(cacheValue), "{rule}note": text(ruleValue), "{denied}note": {value: deniedValue},
		"{form}note":       text(formValue),
		"{service}note":    text(serviceValue),
		"{request_id}note": text(requestIDValue),
	}
}

// squidInstead returns replacements for codes of Squid that are not supported.
func squidInstead() map[string]string {
	return map[string]string{
		"st": "<st", ">st": "<st", "<sh": "<st", ">sh": "<st", "<bs": "<st", "<Hs": ">Hs", "<rm": "rm", "<ru": "ru",
		"<pt": "tr", "<tt": "tr", "dt": "tr", "sn": "{request_id}note", ">h": "{User-Agent}>h",
		"<h": "{Content-Type}<h", "note": "{rule}note", ">p": ">a", ">ha": "{User-Agent}>h",
	}
}

// parseSquid returns the syntax of Squid's logformat.
func parseSquid(t *template) syntax {
	quotings := squidQuotings()
	tokens := squidTokens(quotings)
	return syntax{t.squidLiteral, func() error { return t.squidToken(tokens, quotings) }}
}

// squidLiteral reads a byte of text. It tracks quotation marks and brackets, which set the default encoding of
// the tokens within.
func (t *template) squidLiteral() error {
	c := t.text[t.at]
	t.at++
	switch {
	case t.context == 0 && (c == '"' || c == '['):
		t.context = c
	case t.context == '"' && c == '"', t.context == '[' && c == ']':
		t.context = 0
	}
	return t.addByte(c)
}

// squidToken reads % [encoding] [-] [[0]width] [.width] [{arg}] formatcode [{arg}].
func (t *template) squidToken(tokens map[string]part, quotings map[byte]*quoting) error {
	mark := t.context
	if t.at < len(t.text) && strings.IndexByte(`"[#/'`, t.text[t.at]) >= 0 {
		mark = t.text[t.at]
		t.at++
	}
	var p part
	var err error
	p.left = t.skip('-')
	p.zero = t.skip('0')
	if p.least, _, err = t.number(); err != nil {
		return err
	}
	if t.skip('.') {
		if p.most, _, err = t.number(); err != nil {
			return err
		}
	}
	argument, hasArgument, err := t.argument()
	if err != nil {
		return err
	}
	code := t.squidCode(tokens)
	if code == "" {
		return errors.New("a token is incomplete: write %% for a percent sign")
	}
	if !hasArgument && code != "%" {
		if argument, hasArgument, err = t.argument(); err != nil {
			return err
		}
	}
	found, err := squidValue(tokens, code, argument, hasArgument, p.most)
	if err != nil {
		return err
	}
	p.value, p.quote, p.isNumber = found.value, found.quote, found.isNumber
	if mark != 0 && !p.isNumber {
		p.quote = quotings[mark]
	}
	t.add(p)
	return nil
}

// squidCode reads a format code: the longest known one, or else all letters; "" for none.
func (t *template) squidCode(tokens map[string]part) string {
	rest, isHTTP := strings.CutPrefix(t.text[t.at:], "http::")
	if isHTTP {
		t.at += len("http::")
	}
	longest := ""
	for name := range tokens {
		code := name[strings.LastIndexByte(name, '}')+1:]
		if strings.HasPrefix(rest, code) && len(code) > len(longest) {
			longest = code
		}
	}
	letters := len(rest) - len(strings.TrimLeft(rest, "<>:_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"))
	if _, unavailable := squidInstead()[rest[:letters]]; longest == "" || unavailable {
		longest = rest[:max(letters, len(longest))]
	}
	t.at += len(longest)
	return longest
}

// squidValue returns the value of a code with its argument. most is the maximum width, which sets the precision
// of times.
func squidValue(tokens map[string]part, code, argument string, hasArgument bool, most int) (part, error) {
	switch code {
	case "tl", "tg", "tS", "tu":
		return squidWhen(code, argument, most)
	}
	name := code
	if hasArgument {
		name = "{" + argument + "}" + code
	}
	p, known := tokens[name]
	if !known && (code == ">h" || code == "<h") {
		p, known = tokens[strings.ToLower(name)]
	}
	if !known {
		return part{}, unknown(name, tokens, squidInstead())
	}
	return p, nil
}

// squidWhen returns the value of a time code: tl and tg in a format of strftime, tS and tu with most digits of
// the fraction, 3 if most is 0.
func squidWhen(code, format string, most int) (part, error) {
	const most9, digits = 9, 3
	if most == 0 {
		most = digits
	}
	most = min(most, most9)
	if format == "" {
		format = squidTime
	}
	switch code {
	case "tu":
		return part{value: fractionValue(ended, most, false), isNumber: true}, nil
	case "tS":
		seconds, fraction := epochValue(began, time.Second), fractionValue(began, most, true)
		return part{
			isNumber: true,
			value:    func(b []byte, e *Entry) []byte { return fraction(append(seconds(b, e), '.'), e) },
		}, nil
	case "tg":
		v, err := strftime(format, func(e *Entry) time.Time { return e.Time.UTC() })
		return part{value: v}, err
	}
	v, err := strftime(format, ended)
	return part{value: v}, err
}
