package field

import (
	"encoding/binary"
	"errors"
	"time"

	"github.com/urnd/urnd/resolver/registry"
)

// ErrBinary is the error of bytes that AppendBinary cannot have written.
var ErrBinary = errors.New("damaged fields")

// AppendBinary appends the non-empty values, for temporary files: each after its one-based index in the
// table, and 0 after the last one. The format is not stable between versions of the program.
func (fs Fields[T]) AppendBinary(b []byte, v *T) []byte {
	for i, f := range fs {
		if f.Empty(v) {
			continue
		}
		b = append(b, byte(i+1))
		switch x := f.at(v).(type) {
		case *time.Time:
			b = binary.AppendVarint(b, x.UnixMilli())
		case *[]registry.Target:
			b = binary.AppendUvarint(b, uint64(len(*x)))
			for i := range *x {
				b = target.AppendBinary(b, &(*x)[i])
			}
		default:
			b = AppendText(b, f.Text(v))
		}
	}
	return append(b, 0)
}

// SetBinary decodes the values that AppendBinary appended, and returns the rest of b.
func (fs Fields[T]) SetBinary(v *T, b string) (rest string, err error) {
	for b != "" && b[0] != 0 {
		i := int(b[0]) - 1
		if i >= len(fs) {
			return "", ErrBinary
		}
		if b, err = fs[i].setBinary(v, b[1:]); err != nil {
			return "", err
		}
	}
	if b == "" {
		return "", ErrBinary
	}
	return b[1:], nil
}

func (f *Field[T]) setBinary(v *T, b string) (rest string, err error) {
	switch x := f.at(v).(type) {
	case *string: // without validation
		*x, rest, err = CutText(b)
		return rest, err
	case *time.Time:
		milli, n := binary.Varint(head(b))
		if n <= 0 {
			return "", ErrBinary
		}
		*x = time.UnixMilli(milli).UTC()
		return b[n:], nil
	case *[]registry.Target:
		count, n := binary.Uvarint(head(b))
		if n <= 0 || count > registry.MaxTargets {
			return "", ErrBinary
		}
		*x, rest = make([]registry.Target, count), b[n:]
		for i := 0; i < len(*x) && err == nil; i++ {
			rest, err = target.SetBinary(&(*x)[i], rest)
		}
		return rest, err
	default:
		text, rest, err := CutText(b)
		if err != nil || f.SetText(v, text) != nil {
			return "", ErrBinary
		}
		return rest, nil
	}
}

// head returns the bytes that a varint may occupy.
func head(b string) []byte { return []byte(b[:min(len(b), binary.MaxVarintLen64)]) }

// AppendText appends a text, preceded by its length.
func AppendText(b []byte, text string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

// CutText decodes a text that AppendText appended, and returns the rest of b.
func CutText(b string) (text, rest string, err error) {
	size, n := binary.Uvarint(head(b))
	if n <= 0 || size > uint64(len(b)-n) { //nolint:gosec // at least 0
		return "", "", ErrBinary
	}
	end := n + int(size) //nolint:gosec // at most the length
	return b[n:end], b[end:], nil
}
