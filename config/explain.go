package config

import (
	"cmp"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agnivade/levenshtein"

	"github.com/urnd/urnd/config/source"
)

// This file writes error messages in the terms of the configuration file.

const variablePrefix = "URND_"

// variableOf returns the environment variable of a setting.
func variableOf(path string) string {
	return variablePrefix + strings.ToUpper(strings.ReplaceAll(path, ".", "_"))
}

// unknownVariables returns errors for environment variables with the prefix of settings that are none: a typo
// would silently have no effect.
func unknownVariables() Diagnostics {
	known := map[string]bool{"URND_CONFIG": true, "URND_ACTIVE_HELP": true} // of the command line and its completion
	for path := range leaves(Default()) {
		known[variableOf(path)] = true
	}
	var failures Diagnostics
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		// Set by Kubernetes for a Service of this name.
		ofOthers := strings.HasPrefix(name, "URND_SERVICE_") || strings.HasPrefix(name, "URND_PORT")
		if !strings.HasPrefix(name, variablePrefix) || known[name] || ofOthers {
			continue
		}
		message := "no setting has this variable"
		if similar := closest(name, known); similar != "" {
			message += "; did you mean " + similar + "?"
		}
		failures = append(failures, Diagnostic{File: name, Message: message})
	}
	slices.SortFunc(failures, func(a, b Diagnostic) int { return strings.Compare(a.File, b.File) })
	return failures
}

// closest returns the candidate most similar to a word, "" if none is similar.
func closest(word string, candidates map[string]bool) string {
	best, distance := "", 1+min(2+len(word)/15, len(word)-1)
	if isNumber(word) {
		return ""
	}
	for candidate := range candidates {
		d := levenshtein.ComputeDistance(strings.ToLower(word), strings.ToLower(candidate))
		if d >= len(candidate) {
			continue // no similarity at all
		}
		if d < distance || d == distance && best != "" && candidate < best {
			best, distance = candidate, d
		}
	}
	return best
}

// withoutSection returns the setting that a key without a section probably means, "" for none.
func withoutSection(key string) string {
	var found []string
	for path := range leaves(Default()) {
		if strings.HasSuffix(path, "."+key) {
			found = append(found, path)
		}
	}
	slices.Sort(found)
	if strings.Contains(key, ".") || len(found) == 0 {
		return ""
	}
	return oneOf(found)
}

// set returns the words as a set.
func set(words []string) map[string]bool {
	all := make(map[string]bool, len(words))
	for _, word := range words {
		all[word] = true
	}
	return all
}

// didYouMean returns the suggestion at the end of a message about a word that is not one of words, "" for none.
func didYouMean(word string, words []string) string {
	for _, known := range words { // such as "warning" for WARN
		if len(known) > 2 && strings.HasPrefix(strings.ToLower(word), strings.ToLower(known)) ||
			isShortFor(word, known) {
			return "; did you mean " + known + "?"
		}
	}
	if similar := closest(word, set(words)); similar != "" {
		return "; did you mean " + similar + "?"
	}
	return ""
}

// wrongType returns the message for a value of the wrong type, "" if that of the decoder is good.
func wrongType(path string, value any) string {
	var declared Setting
	for _, s := range Settings() {
		if s.Path == path {
			declared = s
		}
	}
	if declared.Path == "" || value == nil {
		return ""
	}
	if declared.IsSection() {
		return "must be a section: write its settings below it, each on an indented line, such as" + settingOf(path)
	}
	t := typeOf(path)
	switch {
	case t.Kind() != reflect.Slice && notOne(value) != "":
		return notOne(value)
	case t.Kind() == reflect.Slice && reflect.TypeOf(value).Kind() == reflect.Map:
		return "is a table, and must be a list" + listForm(path, value)
	default:
		return wrongWord(declared, t, fmt.Sprint(value))
	}
}

// wrongWord returns the message for a single value of the wrong type.
func wrongWord(declared Setting, t reflect.Type, text string) string {
	switch {
	case t == reflect.TypeFor[slog.Level]():
		return fmt.Sprintf("%q is not %s%s", text, oneOf(declared.OneOf), didYouMean(text, declared.OneOf))
	case t == reflect.TypeFor[time.Duration]():
		if _, err := strconv.ParseFloat(text, 64); err == nil {
			return fmt.Sprintf("%s has no unit: write %[1]ss or %[1]sms", text)
		}
		return fmt.Sprintf("%q is not a duration such as 5s, 2m or 1h30m%s", text, inHours(text))
	case t.Kind() == reflect.Bool:
		return fmt.Sprintf("%q is not true or false%s", text, asBool(text))
	case t.Kind() == reflect.Int && !isText(t) && !isNumber(text):
		return cmp.Or(source.NotDecimal(text), fmt.Sprintf("%q is not a whole number%s", text, asNumber(text)))
	}
	return ""
}

const noTable = "is a single word, and must be a table: "

// mustBeOne ends the message about a list or a table in place of a single value.
const mustBeOne = ", and must be a single value"

// notOne returns the message for a list or a table in place of a single value; "" for a single value.
func notOne(value any) string {
	switch reflect.ValueOf(value).Kind() {
	case reflect.Slice:
		return "is a list" + mustBeOne
	case reflect.Map:
		return "is a table" + mustBeOne
	default:
		return ""
	}
}

// wrongElement returns the message for an element of a list of tables, or a setting in one, of the wrong type;
// "" if that of the decoder is good.
func wrongElement(f Diagnostic) string {
	list := withAnyIndex(f.Path[:max(strings.LastIndexByte(f.Path, '.'), 0)])
	isNoTable := strings.HasPrefix(f.Message, "expected a map or struct")
	if !strings.Contains(f.Path, ".") { // a section
		return ""
	}
	for _, s := range slices.Concat(Settings(), Elements()) {
		if isNoTable && s.Path == list && s.Form == tableForm && len(s.Elements) > 0 {
			isNeeded := func(e Setting) bool { return strings.Contains(e.Doc, "must be set") }
			key := s.Elements[max(slices.IndexFunc(s.Elements, isNeeded), 0)].Path
			return noTable + "write \"- " + key[strings.LastIndexByte(key, '.')+1:] +
				": ...\", and its other settings below it"
		}
	}
	switch {
	case mayHoldSecret(f.Path):
	case strings.HasSuffix(f.Message, "unconvertible type '[]interface {}'"), isNoTable &&
		strings.HasSuffix(f.Message, `"slice"`):
		return "is a list" + mustBeOne
	case strings.HasSuffix(f.Message, "unconvertible type 'map[string]interface {}'"):
		return "is a table" + mustBeOne
	}
	return ""
}

// withoutParts removes consequential errors: about parts of an element that is not a table, and further ones
// about a list or a table in place of a single value.
func withoutParts(failures Diagnostics) Diagnostics {
	isPart := func(f Diagnostic) bool {
		return slices.ContainsFunc(failures, func(of Diagnostic) bool {
			return strings.HasPrefix(of.Message, noTable) && strings.HasPrefix(f.Path, of.Path+".") ||
				strings.Contains(of.Message, mustBeOne) && f.Path == of.Path && f.Message != of.Message
		})
	}
	return slices.DeleteFunc(slices.Clone(failures), isPart)
}

// settingOf returns the first setting of a section, as an example.
func settingOf(section string) string {
	for _, s := range Settings() {
		if key, ok := strings.CutPrefix(s.Path, section+"."); ok {
			return " " + key + ": ..."
		}
	}
	return ""
}

func isNumber(text string) bool {
	_, err := strconv.ParseFloat(text, 64)
	return err == nil
}

// tablesForLists replaces the errors about a table in place of a list by a single one: the decoder takes a
// table for a list of one element.
func tablesForLists(get func(path string) any, failures Diagnostics) Diagnostics {
	fields := fieldsByPath(reflect.ValueOf(Config{}))
	for _, s := range Settings() {
		value := get(s.Path)
		if s.IsSection() || value == nil || fields[s.Path].Kind() != reflect.Slice ||
			reflect.TypeOf(value).Kind() != reflect.Map {
			continue
		}
		failures = slices.DeleteFunc(failures,
			func(f Diagnostic) bool { return f.Path == s.Path || strings.HasPrefix(f.Path, s.Path+".") })
		failures.Add(s.Path, "%s", wrongType(s.Path, value))
	}
	return failures
}

// listForm returns an example of how to write a table as a list.
func listForm(path string, value any) string {
	table, _ := value.(map[string]any)
	for key := range table {
		if path == "namespaces" {
			return fmt.Sprintf(": write \"- nid: %s\", and its settings below it", key)
		}
	}
	return ": begin each element with \"- \""
}

// singleAddresses decodes an address without prefix length as a network of one address.
func singleAddresses(from, to reflect.Type, value any) (any, error) {
	text, ok := value.(string)
	if !ok || to != reflect.TypeFor[netip.Prefix]() || from.Kind() != reflect.String {
		return value, nil
	}
	if addr, err := netip.ParseAddr(text); err == nil {
		return netip.PrefixFrom(addr.WithZone(""), addr.BitLen()), nil
	}
	prefix, err := netip.ParsePrefix(text)
	if _, portErr := netip.ParseAddrPort(text); portErr == nil {
		return nil, fmt.Errorf("%q is not an address range such as 192.0.2.0/24, or an address: write it without port",
			text)
	}
	if err != nil {
		return nil, fmt.Errorf("%q is not an address range such as 192.0.2.0/24, or an address", text)
	}
	return prefix, nil
}

// The functions below recognize how other programs write settings.

// inHours returns the suggestion for a duration in days or weeks, which Go durations do not have.
func inHours(text string) string {
	for unit, length := range map[string]time.Duration{"d": day, "w": week} {
		if n, err := strconv.Atoi(strings.TrimSuffix(text, unit)); err == nil && strings.HasSuffix(text, unit) &&
			n > 0 && n < 1000 {
			return ": write " + showDuration(time.Duration(n)*length)
		}
	}
	return ""
}

// asBool returns the suggestion for a word that is a boolean in YAML 1.1.
func asBool(text string) string {
	switch strings.ToLower(text) {
	case "on", "yes", "y", "enabled", "true", "1":
		return ": write true"
	case "off", "no", "n", "none", "disabled", "false", "0":
		return ": write false"
	}
	return ""
}

// asNumber returns the suggestion for a number with a unit.
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

// isShortFor reports whether a word is an abbreviation by initials, such as "xff" for x-forwarded-for, or the
// word of other programs for known.
func isShortFor(word, known string) bool {
	var initials []byte
	for part := range strings.SplitSeq(known, "-") {
		initials = append(initials, part[:min(1, len(part))]...)
	}
	word = strings.ToLower(word)
	return word == string(initials) && len(word) > 1 || slices.Contains(strings.Fields(synonyms(known)), word)
}

// synonyms returns the words that other programs use for a word of urnd.
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

// hostIn returns the host in a URL, or before a port; "" for none.
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

// writeHost returns the suggestion for an invalid host; ofPattern is the suggestion for a pattern.
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

// writeAddress returns the suggestion for an invalid host and port; sample is a valid one.
func writeAddress(text, sample string) string {
	if _, rest, ok := strings.Cut(text, "://"); ok {
		text = rest
	}
	text, _, _ = strings.Cut(text, "/")
	_, port, _ := net.SplitHostPort(sample)
	switch host, own, err := net.SplitHostPort(text); {
	case err == nil && isHost(host) && strings.Trim(own, digits) == "" && own != "" && own != "0":
		return ": write " + text
	case err != nil && isHost(text) && strings.Trim(text, digits) != "" && asBool(text) == "":
		return ": write " + net.JoinHostPort(text, port)
	}
	return ", such as " + sample
}

// writeServer returns the suggestion for an invalid http or https origin; "" if unknown.
func writeServer(text string) string {
	if strings.Contains(text, "*") {
		return ": patterns are not supported: list each origin"
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
