package webserver

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

var errRedirect = errors.New("invalid mod_alias directive: expected status, path and target")

// redirect converts a directive of mod_alias to a rule. A rule with an error matches every path and has no
// entry.
func (a *apache) redirect(d *directive, words []string) *rule { //nolint:cyclop // the parts of a directive
	r := &rule{line: d.line, input: d.text, mask: ^uint64(0), status: 302}
	failed := func(err error) *rule {
		r.fail = err
		r.pattern = &pattern{Regexp: matchesAll(), routes: []route{everything("", err)}}
		return r
	}
	switch d.name {
	case "redirect", "redirectmatch":
		if len(words) > 0 && !strings.HasPrefix(words[0], "/") && (len(words) > 2 || statusOf(words[0]) != 0) {
			r.status, words = statusOf(words[0]), words[1:]
		}
	case "redirectpermanent":
		r.status = 301
	case "redirecttemp":
	default:
		return failed(fmt.Errorf("%.40q is not supported by the registry", d.name))
	}
	if r.status == 0 || len(words) == 0 || r.redirects() != (len(words) == 2) {
		return failed(errRedirect)
	}
	var err error
	if d.name == "redirectmatch" {
		r.pattern, err = newPattern(words[0], "", false)
		if err == nil && r.redirects() {
			r.target = references(words[1])
			r.finish = matchLocation
		}
	} else {
		rest := "(/.*)?$"
		if strings.HasSuffix(words[0], "/") {
			rest = "(.*)$"
		}
		r.pattern, err = newPattern("^"+regexp.QuoteMeta(words[0])+rest, "", false)
		if err == nil && r.redirects() {
			r.target = []part{{text: words[1]}, {group: true, capture: 1}}
			r.finish = func(text string) string { return words[1] + escape(text[len(words[1]):], apacheKeeps) }
		}
	}
	switch {
	case err != nil:
		return failed(err)
	case !r.redirects():
		return r
	}
	if strings.HasPrefix(words[1], "/") {
		r.target = slices.Insert(r.target, 0, part{text: a.origin})
		finish := r.finish
		r.finish = func(text string) string { return a.origin + finish(text[len(a.origin):]) }
	}
	switch {
	case strings.Contains(words[1], "?"):
		r.query = queryDropped
	case strings.Contains(words[1], "#"):
		r.query = queryLast
	}
	return r
}

// matchLocation returns the location of RedirectMatch, whose path is percent-encoded.
func matchLocation(text string) string {
	end := strings.IndexAny(text, "?#")
	if end < 0 {
		end = len(text)
	}
	return escape(text[:end], apacheKeeps) + text[end:]
}

// apacheKeeps reports whether Apache leaves a byte of a path unencoded.
func apacheKeeps(c byte) bool {
	return isAlphanumeric(c) || c == mark[0] || strings.IndexByte("$-_.+!*'(),:@&=/~", c) >= 0
}

// references splits the target of RedirectMatch at its captures.
func references(text string) (all []part) {
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '$' && i+1 < len(text) && '0' <= text[i+1] && text[i+1] <= '9':
			all = append(all, captureOf(text[i+1]))
			i++
		case c == '\\' && i+1 < len(text):
			i++
			all = append(all, part{text: text[i : i+1]})
		default:
			all = append(all, part{text: text[i : i+1]})
		}
	}
	return joined(all)
}

// captureOf returns the part for the capture with this digit.
func captureOf(digit byte) part { return part{group: true, capture: int(digit - '0')} }

// joined concatenates adjacent literal parts.
func joined(parts []part) (all []part) {
	for _, p := range parts {
		if n := len(all) - 1; n >= 0 && !all[n].group && !all[n].all && !p.group && !p.all {
			all[n].text += p.text
			continue
		}
		all = append(all, p)
	}
	return all
}

func matchesAll() *regexp.Regexp { return regexp.MustCompile("") }

// statusOf parses a status code or its name, 0 if it is invalid.
func statusOf(word string) int {
	switch word = strings.ToLower(word); word {
	case "temp":
		return 302
	case "permanent":
		return 301
	case "seeother":
		return 303
	case "gone":
		return 410
	}
	status := 0
	if len(word) == 3 && strings.Trim(word, "0123456789") == "" {
		_, _ = fmt.Sscan(word, &status)
	}
	return status
}
