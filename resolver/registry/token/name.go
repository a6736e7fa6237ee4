package token

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
	"golang.org/x/text/unicode/runenames"

	"github.com/urnd/urnd/resolver/registry"
)

// The history of a name identifies authors by the names of tokens, so names of tokens must not be confusable
// (UTS 39, Unicode Security Mechanisms).

// reservedNames are refused because they suggest a superuser.
var reservedNames = [...]string{registry.AdministratorName, "root", "system"}

// canonicalName returns the stored form of a name, in NFC and trimmed, or the reason why it is invalid.
func canonicalName(text string) (string, error) {
	text = strings.TrimSpace(text)
	name := norm.NFC.String(text)
	switch {
	case name == "":
		return "", registry.Invalid("token_name_missing", "name", "name missing")
	case len(name) > maxName:
		return "", registry.Invalid("token_name_long", "name", "name of %d bytes in UTF-8: the limit is %d", len(name),
			maxName).
			With("Most", strconv.Itoa(maxName))
	case slices.ContainsFunc(reservedNames[:], func(reserved string) bool { return strings.EqualFold(reserved, name) }):
		return "", registry.Invalid("token_name_reserved", "name",
			"the name %q is reserved, as are %s: choose another name", name,
			strings.Join(reservedNames[:], ", ")).With("Name", name)
	}
	return name, checkCharacters(text)
}

// sameName reports whether two names are equal for readers: after NFC, case-insensitively.
func sameName(a, b string) bool { return strings.EqualFold(norm.NFC.String(a), norm.NFC.String(b)) }

// checkCharacters returns an error for the first character of a name that is invisible, changes how others
// are displayed, or is of another script than the characters before it.
func checkCharacters(text string) error {
	var scripts []string
	position := 0
	for i, c := range text {
		position++
		if _, size := utf8.DecodeRuneInString(text[i:]); c == utf8.RuneError && size == 1 {
			return registry.Invalid("text_encoding", "name", "invalid UTF-8 at byte %d of the name", i+1)
		}
		shown := fmt.Sprintf("U+%04X %s", c, runenames.Name(c))
		refused := func(code, why string) *registry.Error {
			return registry.Invalid(code, "name", "character %d of the name, %s, %s", position, shown, why).
				With("Position", strconv.Itoa(position), "Character", shown)
		}
		switch {
		case unicode.Is(unicode.Bidi_Control, c):
			return refused("token_name_direction", "changes the text direction")
		case unicode.In(c, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector):
			return refused("token_name_unseen", "is invisible or has no width")
		case c != ' ' && unicode.IsSpace(c), c != ' ' && unicode.Is(unicode.Z, c):
			return refused("token_name_space", "is a space other than U+0020")
		case !unicode.IsGraphic(c):
			return refused("token_name_control", "is not a visible character")
		}
		script := scriptOf(c)
		if script == "" || slices.Contains(scripts, script) {
			continue
		}
		if scripts = append(scripts, script); !mayMix(scripts) {
			before := strings.Join(scripts[:len(scripts)-1], " and ")
			why := "is of the script " + script + ", preceding ones are of " + before +
				": use one script, since mixed ones can imitate other names"
			scripts := refused("token_name_scripts", why)
			return scripts.With(append(scripts.Values, "Script", script, "Before", before)...)
		}
	}
	return nil
}

// scriptOf returns the script of a character, "" for characters common to all scripts.
func scriptOf(c rune) string {
	for name, table := range unicode.Scripts {
		if unicode.Is(table, c) {
			if name == "Common" || name == "Inherited" {
				return ""
			}
			return name
		}
	}
	return ""
}

// mayMix reports whether a name may mix these scripts. By the highly restrictive level of UTS 39 section 5.2
// it has one script, or Latin with the scripts of Chinese, Japanese or Korean.
func mayMix(scripts []string) bool {
	if len(scripts) < 2 {
		return true
	}
	return slices.ContainsFunc([][]string{
		{"Latin", "Han", "Hiragana", "Katakana"}, {"Latin", "Han", "Bopomofo"}, {"Latin", "Han", "Hangul"},
	}, func(together []string) bool {
		return !slices.ContainsFunc(scripts, func(s string) bool { return !slices.Contains(together, s) })
	})
}
