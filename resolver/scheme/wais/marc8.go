package wais

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// marc8Text converts MARC-8 to UTF-8: Basic and Extended Latin (ANSEL), the most common sets; characters of
// other sets become U+FFFD. Diacritics precede their letter: MARC 21 Specifications, Character Sets, MARC-8.
func marc8Text(b []byte) string {
	var s strings.Builder
	var marks []rune
	isLatin := true
	for i := 0; i < len(b); i++ {
		char := b[i]
		if char == 0x1B {
			var end int
			end, isLatin = marc8Escape(b[i:])
			i += end
			continue
		}
		if mark := marc8Mark(char); mark != 0 && isLatin {
			marks = append(marks, mark)
			continue
		}
		switch {
		case char < ' ':
			s.WriteByte(char) // a control character of ISO 2709
		case !isLatin:
			s.WriteRune(utf8.RuneError)
		case char < utf8.RuneSelf:
			s.WriteByte(char)
		default:
			s.WriteRune(marc8Letter(char))
		}
		for _, mark := range marks {
			s.WriteRune(mark)
		}
		marks = marks[:0]
	}
	for range marks { // without a letter
		s.WriteRune(utf8.RuneError)
	}
	return norm.NFC.String(s.String())
}

// marc8Escape returns the number of bytes that follow the escape character at the start of b, and whether the
// sequence selects Latin.
func marc8Escape(b []byte) (length int, isLatin bool) {
	for i := 1; i < len(b); i++ {
		if strings.IndexByte("$(),-!", b[i]) < 0 { // intermediate bytes precede the final byte
			multiple := strings.IndexByte(string(b[1:i]), '$') >= 0
			return i, !multiple && (b[i] == 'B' || b[i] == 's' || b[i] == 'E')
		}
	}
	return len(b) - 1, true
}

// marc8Mark returns the combining character for an ANSEL byte, 0 for none.
func marc8Mark(char byte) rune {
	const first = 0xE0
	marks := [...]rune{
		0x309, 0x300, 0x301, 0x302, 0x303, 0x304, 0x306, 0x307, 0x308, 0x30C, 0x30A, 0xFE20, 0xFE21, 0x315, 0x30B,
		0x310, 0x327, 0x328, 0x323, 0x324, 0x325, 0x333, 0x332, 0x326, 0x31C, 0x32E, 0xFE22, 0xFE23, 0, 0, 0x313, 0,
	}
	if char < first {
		return 0
	}
	return marks[char-first]
}

// marc8Letter returns the character for an ANSEL byte that is not a combining character.
func marc8Letter(char byte) rune {
	const first = 0xA1
	letters := [...]rune{
		'Ł', 'Ø', 'Đ', 'Þ', 'Æ', 'Œ', 'ʹ', '·', '♭', '®', '±', 'Ơ', 'Ư', 'ʼ', 0,
		'ʻ', 'ł', 'ø', 'đ', 'þ', 'æ', 'œ', 'ʺ', 'ı', '£', 'ð', 0, 'ơ', 'ư', 0, 0,
		'°', 'ℓ', '℗', '©', '♯', '¿', '¡', 'ß', '€',
	}
	if char < first || int(char-first) >= len(letters) || letters[char-first] == 0 {
		return utf8.RuneError
	}
	return letters[char-first]
}
