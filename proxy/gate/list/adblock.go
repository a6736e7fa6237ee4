package list

import (
	"errors"
	"strings"
)

var (
	errAdBlock  = errors.New("unsupported AdBlock rule without a host: write ||example.org^")
	errCosmetic = errors.New("unsupported AdBlock rule for page elements")
	errOption   = errors.New("unsupported AdBlock option: only $important, $all, $document and $doc are supported")
)

// isAdBlockComment reports whether a line is a comment or a header of a list for AdBlock.
func isAdBlockComment(text string) bool {
	if text[0] == '!' {
		return true
	}
	return text[0] == '[' && text[len(text)-1] == ']' && !strings.Contains(text, ":") // not an address
}

// isAdBlock reports whether a line is a rule of AdBlock, of any kind.
func isAdBlock(text string) bool {
	return text[0] == '|' || text[0] == '/' || strings.HasPrefix(text, "@@") || isCosmetic(text) ||
		strings.ContainsAny(text, "^$")
}

// isCosmetic reports whether a line is a rule for elements of pages (a cosmetic filter).
func isCosmetic(text string) bool {
	for _, mark := range [...]string{"##", "#@#", "#?#", "#$#", "#%#"} {
		if strings.Contains(text, mark) {
			return true
		}
	}
	return false
}

// cutAdBlock splits a rule of AdBlock into its target, a host and an optional path, and its modifiers:
// ||host^, |host^, ||host/path^, each also after "@@". below is whether names below the host match, except
// whether the rule is an exception.
func cutAdBlock(text string) (target string, below, except bool, err error) {
	if isCosmetic(text) {
		return "", false, false, errCosmetic
	}
	text, except = strings.CutPrefix(text, "@@")
	if i := strings.LastIndexByte(text, '$'); i >= 0 && !hasReadOptions(text[i+1:]) {
		return "", false, false, errOption
	} else if i >= 0 {
		text = text[:i]
	}
	text, anchored := strings.CutPrefix(text, "|")
	text, below = strings.CutPrefix(text, "|")
	text, ended := strings.CutSuffix(strings.TrimSuffix(text, "|"), "^")
	if !anchored || !ended || strings.ContainsAny(text, "*|^") {
		return "", false, false, errAdBlock
	}
	return text, below, except, nil
}

// hasReadOptions reports whether the options of a rule are known, and do not restrict it to some requests.
func hasReadOptions(options string) bool {
	for option := range strings.SplitSeq(options, ",") {
		switch option {
		case "important", "all", "document", "doc":
		default:
			return false
		}
	}
	return true
}

// parseAdBlockHost parses a rule of AdBlock for a host.
func parseAdBlockHost(text string) (host, error) {
	target, below, except, err := cutAdBlock(text)
	if err != nil {
		return host{}, err
	}
	h, err := parseHost(target)
	switch {
	case err != nil:
		return host{}, err
	case h.below || h.wild:
		return host{}, errAdBlock
	}
	h.below, h.except = below && h.name != "", except
	if h.below {
		err = checkWidth(h.name)
	}
	return h, err
}
