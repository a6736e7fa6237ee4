package field

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/urnd/urnd/internal/plaintext"
	"github.com/urnd/urnd/resolver/registry"
)

// Text returns the value as the text of a table cell, "" if it is empty. SetText is its inverse, except for
// targets, whose text has only the URIs.
func (f *Field[T]) Text(v *T) string {
	switch x := f.at(v).(type) {
	case *string:
		return *x
	case *int:
		return FormatNumber(*x)
	case *bool:
		return FormatBool(*x)
	case *time.Time:
		return FormatTime(*x)
	case *registry.Status:
		return x.String()
	case *[]string:
		return strings.Join(*x, " ")
	default:
		targets := *pointer[[]registry.Target](f, v)
		uris := make([]string, len(targets))
		for i := range targets {
			uris[i] = targets[i].URI
		}
		return strings.Join(uris, " ")
	}
}

// SetText parses the text of a table cell. The error names the field, and wraps the reason.
func (f *Field[T]) SetText(v *T, text string) error {
	if err := f.setText(v, text); err != nil {
		return fmt.Errorf("the %s%s: %w", f.ColumnName(), f.of, err)
	}
	return nil
}

func (f *Field[T]) setText(v *T, text string) (err error) {
	if f.Type != Text {
		text = strings.TrimSpace(text)
	}
	switch x := f.at(v).(type) {
	case *string:
		if *x = text; f.Type == JSON {
			*x, err = CompactJSON(text)
		}
	case *int:
		if f.parse != nil {
			*x, err = f.parse(text)
		} else {
			*x, err = ParseNumber(text)
		}
	case *bool:
		*x, err = ParseBool(text)
	case *time.Time:
		*x, err = f.ParseTime(text)
	case *registry.Status:
		err = x.UnmarshalText([]byte(text))
	case *[]string:
		*x = strings.Fields(text)
	default:
		targets := pointer[[]registry.Target](f, v)
		*targets = nil
		for uri := range strings.FieldsSeq(text) {
			*targets = append(*targets, registry.Target{URI: uri})
		}
	}
	return err
}

// SetList sets a value of type List.
func (f *Field[T]) SetList(v *T, texts []string) { *pointer[[]string](f, v) = texts }

// Lines returns the value formatted for display: one line per value, none if it is empty.
func (f *Field[T]) Lines(v *T) []string {
	switch x := f.at(v).(type) {
	case *bool:
		if *x {
			return []string{"yes"}
		}
	case *[]string:
		return *x
	case *[]registry.Target:
		lines := make([]string, len(*x))
		for i := range *x {
			lines[i] = TargetText(&(*x)[i], func(name string) string { return target.Find(name).Label })
		}
		return lines
	default:
		if text := f.Text(v); text != "" {
			return []string{text}
		}
	}
	return nil
}

// inText are the fields of a target in the order of TargetText.
var inText = target.Ordered("uri", "rel", "type", "language", "context", "title", "priority", "from", "until", "note")

// TargetText returns the URI of a target, followed by its other fields in parentheses. label returns the
// label for the name of a field.
func TargetText(t *registry.Target, label func(name string) string) string {
	var about []string
	for _, f := range inText[1:] {
		if f.Empty(t) {
			continue
		}
		text := f.Lines(t)[0]
		switch f.Name {
		case "rel", "type", "language": // self-explanatory without a label
		case "note":
			text = strconv.Quote(text)
		case "title":
			text = label(f.Name) + " " + strconv.Quote(text)
		default:
			text = label(f.Name) + " " + text
		}
		about = append(about, text)
	}
	if len(about) == 0 {
		return t.URI
	}
	return t.URI + " (" + strings.Join(about, ", ") + ")"
}

// Ordered returns the fields, those with the given names first and in that order.
func (fs Fields[T]) Ordered(names ...string) Fields[T] {
	ordered := make(Fields[T], 0, len(fs))
	for _, name := range names {
		ordered = append(ordered, fs.Find(name))
	}
	for i := range fs {
		if ordered[:len(names)].Find(fs[i].Name) == nil {
			ordered = append(ordered, fs[i])
		}
	}
	return ordered
}

// ParseNumber parses a 32-bit integer; "" is 0.
func ParseNumber(text string) (int, error) {
	if text = strings.TrimSpace(text); text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return 0, fmt.Errorf("%.40q is not a number", text)
	}
	return int(n), nil
}

// FormatNumber is the inverse of ParseNumber.
func FormatNumber(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// ParseBool parses the usual spellings of true and false; "" is false.
func ParseBool(text string) (bool, error) {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "", "0", "f", "false", "n", "no":
		return false, nil
	case "1", "t", "true", "y", "yes", "x":
		return true, nil
	default:
		return false, fmt.Errorf("%.40q is neither true nor false", text)
	}
}

// FormatBool is the inverse of ParseBool.
func FormatBool(is bool) string {
	if is {
		return "true"
	}
	return ""
}

// ParseTime parses a time of RFC 3339, or a date, which means its beginning in UTC; "" is the zero value.
func ParseTime(cell string) (time.Time, error) {
	if strings.TrimSpace(cell) == "" {
		return time.Time{}, nil
	}
	t, err := plaintext.ParseTime(cell)
	return stored(t), err
}

// ParseTime parses a time of the field, as the function ParseTime does, but a date means the end of the day if the
// field is EndOfDay.
func (f *Field[T]) ParseTime(text string) (time.Time, error) {
	t, err := ParseTime(text)
	if err == nil && f.EndOfDay && len(strings.TrimSpace(text)) == len(time.DateOnly) {
		t = EndOfDay(t)
	}
	return t, err
}

// EndOfDay returns the exclusive end of a day, within the years that stores have: see registry.CheckTime.
func EndOfDay(day time.Time) time.Time {
	end := day.AddDate(0, 0, 1)
	if registry.CheckTime("", end) != nil {
		return end.Add(-time.Millisecond)
	}
	return end
}

// FormatTime is the inverse of the function ParseTime.
func FormatTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

// stored returns a time in UTC with the resolution of stores.
func stored(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.UTC().Truncate(time.Millisecond)
}

// CompactJSON returns JSON without insignificant white space, "" for null.
func CompactJSON(text string) (string, error) {
	if text = strings.TrimSpace(text); text == "" || text == "null" {
		return "", nil
	}
	if len(text) > 2*registry.MaxMetadata { // allow for white space
		return "", fmt.Errorf("longer than %d bytes", registry.MaxMetadata)
	}
	if err := registry.UniqueMembers([]byte(text)); err != nil {
		return "", err
	}
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(text)); err != nil {
		return "", fmt.Errorf("not JSON: %w", err)
	}
	return b.String(), nil
}
