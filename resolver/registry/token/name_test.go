package token_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/token"
)

func TestNames(t *testing.T) {
	r, _ := newRegistry(t)
	for _, tt := range []struct {
		name, want string // as it is stored, or "error" and a part of the error
	}{
		{"catalogue", "catalogue"},
		{" catalogue of Åbo \t", "catalogue of Åbo"},
		{"A\u030abo", "Åbo"},
		{"Каталог 2", "Каталог 2"},
		{"目録 カタログ catalogue", "目録 カタログ catalogue"},
		{"목록 目錄 x", "목록 目錄 x"},
		{"العربية", "العربية"},
		{"O'Neill & Söhne (2)", "O'Neill & Söhne (2)"},
		{"", "error name missing"},
		{" \t ", "error name missing"},
		{strings.Repeat("å", 101), "error name of 202 bytes in UTF-8: the limit is 200"},
		{"admin", `error the name "admin" is reserved, as are admin, root, system`},
		{" ADMIN ", `error the name "ADMIN" is reserved`},
		{"Root", `error the name "Root" is reserved`},
		{"sYstem", `error the name "sYstem" is reserved`},
		{"a\nb", "error character 2 of the name, U+000A <control>, is a space other than U+0020"},
		{"a\x00", "error character 2 of the name, U+0000 <control>, is not a visible character"},
		{"ab\u202egnp", "error character 3 of the name, U+202E RIGHT-TO-LEFT OVERRIDE, changes the text direction"},
		{"a\u2066b", "error character 2 of the name, U+2066 LEFT-TO-RIGHT ISOLATE, changes the text direction"},
		{"b\u00e5\u200bb", "error character 3 of the name, U+200B ZERO WIDTH SPACE, is invisible"},
		{"\u200dab", "error character 1 of the name, U+200D ZERO WIDTH JOINER, is invisible"},
		{"a\u2060", "error character 2 of the name, U+2060 WORD JOINER, is invisible"},
		{"a\ufeffb", "error character 2 of the name, U+FEFF ZERO WIDTH NO-BREAK SPACE, is invisible"},
		{"a\u00adb", "error character 2 of the name, U+00AD SOFT HYPHEN, is invisible"},
		{"a\u3164", "error character 2 of the name, U+3164 HANGUL FILLER, is invisible"},
		{"a\ufe0f", "error character 2 of the name, U+FE0F VARIATION SELECTOR-16, is invisible"},
		{"a\u00a0b", "error character 2 of the name, U+00A0 NO-BREAK SPACE, is a space"},
		{"a\ue000", "error character 2 of the name, U+E000"},
		{"a\xff", "error invalid UTF-8 at byte 2 of the name"},
		{
			"\u0430dmin",
			"error character 2 of the name, U+0064 LATIN SMALL LETTER D, is of the script Latin, preceding ones are " +
				"of Cyrillic",
		},
		{
			"catal\u03bfgue",
			"error character 6 of the name, U+03BF GREEK SMALL LETTER OMICRON, is of the script Greek, preceding " +
				"ones are of Latin",
		},
		{
			"カ한",
			"error character 2 of the name, U+D55C <Hangul Syllable>, is of the script Hangul, preceding ones are " +
				"of Katakana",
		},
	} {
		made, _, err := token.Create(t.Context(), r, root, token.Token{Name: tt.name, Role: registry.Reader})
		refusal, refused := strings.CutPrefix(tt.want, "error ")
		switch {
		case refused && (!errors.Is(err, registry.ErrInvalid) || !strings.Contains(err.Error(), refusal)):
			t.Errorf("%q: %v, want %s", tt.name, err, refusal)
		case !refused && (err != nil || made.Name != tt.want):
			t.Errorf("%q: %q, %v", tt.name, made.Name, err)
		}
	}
}

// The administrator of a department cannot create a token with another user's name, in any spelling.
func TestSameNames(t *testing.T) {
	r, _ := newRegistry(t)
	create(t, r, token.Token{Name: "\u00c5bo", Role: registry.Writer})
	limited := registry.Actor{Name: "a", Role: registry.Admin, Prefixes: []string{"urn:"}}
	for name, want := range map[string]error{
		"\u00c5bo": registry.ErrDenied, "A\u030abo": registry.ErrDenied, "\u212bbo": registry.ErrDenied,
		"\u00e5BO ": registry.ErrDenied, "Abo": nil,
	} {
		_, _, err := token.Create(t.Context(), r, limited,
			token.Token{Name: name, Role: registry.Reader, Prefixes: []string{"urn:"}})
		if !errors.Is(err, want) || (err == nil) != (want == nil) {
			t.Errorf("%q: %v, want %v", name, err, want)
		}
	}
}
