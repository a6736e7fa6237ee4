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

// The history of a name says by the names of tokens who has changed it, so a name must not look as another one does: UTS 39 (Unicode
// Security Mechanisms).

// reservedNames are those of nobody: they look as if they were of whoever may do all.
var reservedNames = [...]string{registry.AdministratorName, "root", "system"}

// canonicalName returns a name as it is stored, in NFC and without spaces around it, or why it is none.
func canonicalName(text string) (string, error) {
	text = strings.TrimSpace(text)
	name := norm.NFC.String(text)
	switch {
	case name == "":
		return "", registry.Invalid("token_name_missing", "name", "a token has a name")
	case len(name) > maxName:
		return "", registry.Invalid("token_name_long", "name", "the name has %d bytes in UTF-8, and may have %d", len(name), maxName).
			With("Most", strconv.Itoa(maxName))
	case slices.ContainsFunc(reservedNames[:], func(reserved string) bool { return strings.EqualFold(reserved, name) }):
		return "", registry.Invalid("token_name_reserved", "name", "the name %q is reserved, as are %s: give the token another one", name,
			strings.Join(reservedNames[:], ", ")).With("Name", name)
	}
	return name, checkCharacters(text)
}

// sameName reports whether two names are one for people.
func sameName(a, b string) bool { return strings.EqualFold(norm.NFC.String(a), norm.NFC.String(b)) }

// checkCharacters returns an error for the first character of a name that is not seen, that changes how others are seen, or that is of
// another script than those before.
func checkCharacters(text string) error {
	var scripts []string
	position := 0
	for i, c := range text {
		position++
		if _, size := utf8.DecodeRuneInString(text[i:]); c == utf8.RuneError && size == 1 {
			return registry.Invalid("text_encoding", "name", "byte %d of the name is not UTF-8", i+1)
		}
		shown := fmt.Sprintf("U+%04X %s", c, runenames.Name(c))
		refused := func(code, why string) *registry.Error {
			return registry.Invalid(code, "name", "character %d of the name, %s, %s", position, shown, why).
				With("Position", strconv.Itoa(position), "Character", shown)
		}
		switch {
		case unicode.Is(unicode.Bidi_Control, c):
			return refused("token_name_direction", "changes the direction in which others are shown")
		case unicode.In(c, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector):
			return refused("token_name_unseen", "has no width, or is not seen")
		case c != ' ' && unicode.IsSpace(c), c != ' ' && unicode.Is(unicode.Z, c):
			return refused("token_name_space", "is a space that is not U+0020")
		case !unicode.IsGraphic(c):
			return refused("token_name_control", "is no character that is shown")
		}
		script := scriptOf(c)
		if script == "" || slices.Contains(scripts, script) {
			continue
		}
		if scripts = append(scripts, script); !mayMix(scripts) {
			before := strings.Join(scripts[:len(scripts)-1], " and ")
			why := "is of the script " + script + ", and those before are of " + before + ": a name is of one script, so that it is not taken for another one"
			scripts := refused("token_name_scripts", why)
			return scripts.With(append(scripts.Values, "Script", script, "Before", before)...)
		}
	}
	return nil
}

// scriptOf returns the script of a character, "" for those that are of all.
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

// mayMix reports whether characters of some scripts may be in one name: by the highly restrictive level of UTS 39 section 5.2 those of one,
// or of Latin with the scripts of Chinese, Japanese or Korean.
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
