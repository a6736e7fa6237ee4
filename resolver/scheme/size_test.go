package scheme_test

import (
	"math/big"
	"strings"
	"testing"

	"github.com/urnd/urnd/resolver/scheme"
)

// FuzzSize requires that a size consists of digits, and is at most MaxSize: the sum of two does not overflow.
func FuzzSize(f *testing.F) {
	for _, text := range []string{
		"0", "007", "4611686018427387903", "4611686018427387904", "9223372036854775807", "18446744073709551616", "",
		"-1", "+1", "1_0", "0x1", " 1", "1 ", "1e3", "١",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		size, ok := scheme.ParseSize(text)
		n, isNumber := new(big.Int).SetString(text, 10)
		isNumber = isNumber && strings.Trim(text, "0123456789") == ""
		want := isNumber && n.Cmp(big.NewInt(scheme.MaxSize)) <= 0
		if ok != want || ok && n.Cmp(big.NewInt(size)) != 0 || size < 0 || size+size < size {
			t.Errorf("%q: %d, %t", text, size, ok)
		}
	})
}
