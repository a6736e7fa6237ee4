package title_test

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/urnd/urnd/resolver/registry/title"
)

func TestWords(t *testing.T) {
	vectors, err := os.ReadFile("testdata/words.tsv")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(vectors)) {
		line = strings.TrimSuffix(line, "\n")
		text, want, ok := strings.Cut(line, "\t")
		if strings.HasPrefix(line, "#") {
			continue
		}
		if got := strings.Join(title.Words(text), " "); !ok || got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// Long titles and words are truncated at character boundaries.
func TestBounds(t *testing.T) {
	var b strings.Builder
	for i := range 2 * title.MaxWords {
		b.WriteString(strings.Repeat("ab", 1+i) + " ")
	}
	words := title.Words(b.String())
	if last := words[len(words)-1]; len(words) != title.MaxWord/2 || len(last) != title.MaxWord {
		t.Errorf("%d words, the last of %d bytes", len(words), len(last))
	}
	if n := len(title.Words(strings.Repeat("x", 63) + "ж")[0]); n != 63 {
		t.Errorf("a word was cut to %d bytes", n)
	}
	b.Reset()
	for r := rune(0x4e00); r < 0x5000; r++ {
		b.WriteRune(r)
	}
	if n := len(title.Words(b.String())); n != title.MaxWords {
		t.Errorf("%d words of a title, want %d", n, title.MaxWords)
	}
}

func TestOfMetadata(t *testing.T) {
	for _, c := range []struct {
		metadata string
		want     []string
	}{
		{``, nil},
		{`[1]`, nil},
		{`{"titel":"no","note":"title"}`, nil},
		{`{"note":"x","Title":"Kalevala","name":["A",{"@value":"B"}]}`, []string{"Kalevala", "A", "B"}},
		{`{"title":1984,"erc.what":{"b":"2","a":"1","n":3}}`, []string{"1984", "1", "2"}},
		{`{"title":[[["too deep"]]]}`, nil},
		{`{"ti\u0074le":"\u0041"}`, []string{"A"}},
	} {
		if got := title.FromMetadata(c.metadata); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.metadata, got, c.want)
		}
	}
}

func TestQuery(t *testing.T) {
	words := title.Words("Suomen kansan vanhat runot", "Kalevala")
	for query, want := range map[string]bool{
		"kalevala": true, "KALE": true, "kale vanhat": false, "runot kale": true, "kansan suomen": true, "evala": false,
		"suo": true, "suomi": false,
	} {
		q, err := title.ParseQuery(query)
		if err != nil || q.Matches(words) != want {
			t.Errorf("%q: %v, want %t", query, err, want)
		}
	}
	for _, text := range []string{
		"", " ?", strings.Repeat("a", title.MaxQuery+1),
		"a b c d e f g h i j k l m n o p q",
	} {
		if q, err := title.ParseQuery(text); !errors.Is(err, title.ErrQuery) {
			t.Errorf("%.20q: %q, %v", text, q, err)
		}
	}
}

// Words are valid text within the limits, contain no character that databases treat as a separator or
// operator, and are stable when folded again.
func FuzzWords(f *testing.F) {
	for _, seed := range []string{
		"Kalevala", "Straße ẞ ŉ", "ᾳΐ և", "ガｶﾞ", "İ", "\xff", "a\u0300\u0345b",
		"AND NEAR(x) y* 'q' \"z\" a:b \\",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		words := title.Words(text)
		if len(words) > title.MaxWords {
			t.Fatalf("%d words", len(words))
		}
		for _, w := range words {
			if w == "" || len(w) > title.MaxWord || !utf8.ValidString(w) ||
				w != strings.ToLower(w) && !strings.ContainsFunc(w, func(r rune) bool { return r > 0x7f }) {
				t.Fatalf("the word %q of %q", w, text)
			}
			for _, c := range []byte(w) {
				if c < 0x80 && (c < '0' || c > '9') && (c < 'a' || c > 'z') {
					t.Fatalf("the word %q of %q has %q", w, text, c)
				}
			}
			if again := title.Words(w); len(w) < title.MaxWord-8 && !slices.Equal(again, []string{w}) {
				t.Fatalf("the words of %q, one of %q, are %q", w, text, again)
			}
		}
	})
}
