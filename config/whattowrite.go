package config

import (
	"net"
	"slices"
	"strconv"
	"strings"
	"time"
)

// This file knows what people write who come from other programs, and what they mean.

// inHours returns the end of a message about days and weeks, which durations do not have.
func inHours(text string) string {
	for unit, length := range map[string]time.Duration{"d": day, "w": week} {
		if n, err := strconv.Atoi(strings.TrimSuffix(text, unit)); err == nil && strings.HasSuffix(text, unit) && n > 0 && n < 1000 {
			return ": write " + showDuration(time.Duration(n)*length)
		}
	}
	return ""
}

// asBool returns the end of a message about words that YAML 1.1 took for true and false.
func asBool(text string) string {
	switch strings.ToLower(text) {
	case "on", "yes", "y", "enabled", "1":
		return ": write true"
	case "off", "no", "n", "none", "disabled", "0":
		return ": write false"
	}
	return ""
}

// asNumber returns the end of a message about numbers with a unit.
func asNumber(text string) string {
	rest := strings.TrimLeft(text, digits)
	number := strings.TrimSuffix(text, rest)
	if n, err := strconv.Atoi(number); err == nil && strings.EqualFold(rest, "k") {
		number = strconv.Itoa(n * 1000)
	}
	if number == "" {
		return ""
	}
	return ": write " + number
}

// isShortFor reports whether a word has the first letters of another one, "xff" for x-forwarded-for, or is what other programs
// call it.
func isShortFor(word, known string) bool {
	var initials []byte
	for part := range strings.SplitSeq(known, "-") {
		initials = append(initials, part[:min(1, len(part))]...)
	}
	word = strings.ToLower(word)
	return word == string(initials) && len(word) > 1 || slices.Contains(strings.Fields(synonyms(known)), word)
}

// synonyms returns what other programs call a word of urnd.
func synonyms(known string) string {
	switch known {
	case "deny":
		return "block drop reject forbid refuse"
	case "allow":
		return "permit pass accept"
	case "combined":
		return "common clf apache ncsa nginx"
	case "exact":
		return "original raw verbatim"
	case "report":
		return "monitor log dry-run"
	case "off", "never":
		return "false no none disabled"
	}
	return ""
}

// hostIn returns the host in a URL, or before a port; "" where there is none.
func hostIn(text string) string {
	if _, rest, ok := strings.Cut(text, "://"); ok {
		text = rest
	}
	text, _, _ = strings.Cut(text, "/")
	if host, _, err := net.SplitHostPort(text); err == nil {
		text = host
	}
	if !isHost(text) {
		return ""
	}
	return text
}

// writeHost returns the end of a message about what is no host; ofPattern is what to do instead of a pattern.
func writeHost(text, ofPattern string) string {
	host := hostIn(text)
	switch {
	case strings.ContainsAny(text, "*?"):
		return ": " + ofPattern
	case host != "" && host != text:
		return ": write " + host
	}
	return ""
}

// writeAddress returns the end of a message about what is no host and port; sample is one that is right.
func writeAddress(text, sample string) string {
	if _, rest, ok := strings.Cut(text, "://"); ok {
		text = rest
	}
	text, _, _ = strings.Cut(text, "/")
	_, port, _ := net.SplitHostPort(sample)
	switch host, own, err := net.SplitHostPort(text); {
	case err == nil && isHost(host) && strings.Trim(own, digits) == "" && own != "" && own != "0":
		return ": write " + text
	case err != nil && isHost(text) && strings.Trim(text, digits) != "":
		return ": write " + net.JoinHostPort(text, port)
	}
	return ", such as " + sample
}

// writeServer returns the end of a message about what is not http:// or https:// and a host; "" where that is not known.
func writeServer(text string) string {
	if strings.Contains(text, "*") {
		return ": there are no patterns: list each site"
	}
	scheme, rest, ok := strings.Cut(text, "://")
	if !ok {
		scheme, rest = "https", text
	}
	rest, _, _ = strings.Cut(rest, "/")
	if _, port, err := net.SplitHostPort(rest); !ok && err == nil && port != "443" {
		scheme = "http"
	}
	if isServer(scheme+"://"+rest) != nil {
		return ""
	}
	return ": write " + scheme + "://" + rest
}
