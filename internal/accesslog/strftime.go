package accesslog

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// conversions returns the conversion specifications of strftime(3) in the C locale as layouts of package time.
func conversions() map[byte]string {
	return map[byte]string{
		'a': "Mon", 'A': "Monday", 'b': "Jan", 'B': "January", 'c': "Mon Jan _2 15:04:05 2006", 'd': "02",
		'D': "01/02/06", 'e': "_2", 'F': "2006-01-02", 'h': "Jan", 'H': "15", 'I': "03", 'j': "002", 'm': "01",
		'M': "04", 'p': "PM", 'P': "pm", 'r': "03:04:05 PM", 'R': "15:04", 'S': "05", 'T': "15:04:05", 'x': "01/02/06",
		'X': "15:04:05", 'y': "06", 'Y': "2006", 'z': "-0700", 'Z': "MST",
	}
}

// strftimeSeconds represents %s among the layouts: seconds since 1970.
const strftimeSeconds = "s"

// moment is a layout in a compiled format of strftime, with the text before it.
type moment struct{ literal, layout string }

// joins reports whether two layouts and the text between them can be combined into one layout, so that the time
// is only computed once. The text must not contain elements of a layout.
func joins(before moment, between, layout string) bool {
	return between != "" && strings.Trim(between, "/: ") == "" && before.layout != strftimeSeconds &&
		layout != strftimeSeconds
}

// strftime compiles a format of strftime(3) for the time that at returns.
func strftime(format string, at func(e *Entry) time.Time) (value, error) {
	var moments []moment
	known := conversions()
	literal := ""
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			literal += format[i : i+1]
			continue
		}
		i++
		layout, isKnown := known[format[i]]
		switch {
		case isKnown:
		case format[i] == 's':
			layout = strftimeSeconds
		case format[i] == '%':
			literal += "%"
			continue
		default:
			return nil,
				fmt.Errorf("urnd does not support %%%c of strftime: use others, such as %%d/%%b/%%Y:%%H:%%M:%%S %%z",
					format[i])
		}
		if last := len(moments) - 1; last >= 0 && joins(moments[last], literal, layout) {
			moments[last].layout += literal + layout
		} else {
			moments = append(moments, moment{literal, layout})
		}
		literal = ""
	}
	moments = append(moments, moment{literal: literal})
	return func(b []byte, e *Entry) []byte {
		t := at(e)
		for _, m := range moments {
			b = append(b, m.literal...)
			switch m.layout {
			case "":
			case strftimeSeconds:
				b = strconv.AppendInt(b, t.Unix(), 10)
			default:
				b = t.AppendFormat(b, m.layout)
			}
		}
		return b
	}, nil
}
