package wais

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/urnd/urnd/resolver/scheme"
)

// marc is a bibliographic record by ISO 2709, such as MARC 21 and its relatives.
type marc struct {
	leader string
	fields []marcField
}

type marcField struct {
	tag        string
	indicators string // "" for a control field
	value      string // for a control field
	subfields  []marcSubfield
}

type marcSubfield struct {
	code  byte
	value string
}

const (
	marcLeader    = 24 // bytes
	marcEntry     = 12 // bytes of a directory entry
	marcFieldEnd  = 0x1E
	marcDelimiter = 0x1F
	marcIndicator = 2 // bytes
)

// parseMARC parses a record; ok is false if it is invalid. Fields that are not completely in it are left out.
// Text that is not UTF-8 is MARC-8 in USMARC, and of unknown charset in other formats.
func parseMARC(b []byte, isUSMARC bool) (m marc, ok bool) {
	if len(b) < marcLeader {
		return marc{}, false
	}
	base, err := strconv.Atoi(string(b[12:17]))
	if err != nil || base < marcLeader || base > len(b) {
		return marc{}, false
	}
	m.leader = string(b[:marcLeader])
	unicode := b[9] == 'a' || utf8.Valid(b)
	directory, _, _ := bytes.Cut(b[marcLeader:base], []byte{marcFieldEnd})
	left := len(b) - base // fields must not overlap, so that a short record cannot expand to a long text
	for ; len(directory) >= marcEntry; directory = directory[marcEntry:] {
		length, err1 := strconv.ParseUint(string(directory[3:7]), 10, 32)
		start, err2 := strconv.ParseUint(string(directory[7:12]), 10, 32)
		if err1 != nil || err2 != nil || int(start+length) > len(b)-base || int(length) > left {
			continue
		}
		left -= int(length)
		content := b[base+int(start) : base+int(start+length)]
		content = bytes.TrimSuffix(content, []byte{marcFieldEnd})
		m.fields = append(m.fields, parseMARCField(string(directory[:3]), marcText(content, unicode, isUSMARC)))
	}
	return m, true
}

func parseMARCField(tag, content string) marcField {
	f := marcField{tag: tag}
	parts := strings.Split(content, string(rune(marcDelimiter)))
	if len(parts) == 1 || strings.HasPrefix(tag, "00") {
		f.value = content
		return f
	}
	f.indicators = parts[0]
	for _, part := range parts[1:] {
		if part != "" {
			f.subfields = append(f.subfields, marcSubfield{part[0], part[1:]})
		}
	}
	return f
}

// marcText converts bytes of a field to UTF-8. Of an unknown charset only ASCII is kept.
func marcText(b []byte, unicode, isMARC8 bool) string {
	switch {
	case unicode:
		return strings.ToValidUTF8(string(b), string(utf8.RuneError))
	case isMARC8:
		return marc8Text(b)
	}
	var s strings.Builder
	for _, char := range b {
		if char < utf8.RuneSelf {
			s.WriteByte(char)
		} else {
			s.WriteRune(utf8.RuneError)
		}
	}
	return s.String()
}

// text returns the record as a table: a line per field, with tag, indicators and subfields.
func (m marc) text() string {
	var b strings.Builder
	b.WriteString("LDR " + pad("") + " " + scheme.DecodeText(m.leader) + "\n")
	for _, f := range m.fields {
		b.WriteString(scheme.DecodeText(f.tag) + " " + pad(scheme.DecodeText(f.indicators)))
		if f.value != "" {
			b.WriteString(" " + scheme.DecodeText(f.value))
		}
		for _, s := range f.subfields {
			b.WriteString(" $" + scheme.DecodeText(string(rune(s.code))) + " " +
				scheme.DecodeText(strings.TrimSpace(s.value)))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// pad pads the indicators to a column.
func pad(s string) string {
	return s + strings.Repeat(" ", max(0, marcIndicator-utf8.RuneCountInString(s)))
}

// get returns the subfields with the given codes of the first field with a tag, joined by spaces.
func (m marc) get(tag, codes string) string {
	var values []string
	for _, f := range m.fields {
		if f.tag != tag {
			continue
		}
		for _, s := range f.subfields {
			if strings.IndexByte(codes, s.code) >= 0 {
				values = append(values, strings.TrimSpace(s.value))
			}
		}
		break
	}
	return strings.Join(values, " ")
}

// brief uses the tags of MARC 21, otherwise those of UNIMARC.
func (m marc) brief() brief {
	b := brief{title: m.get("245", "ab"), author: m.get("100", "a"), note: m.get("260", "bc")}
	if b.note == "" {
		b.note = m.get("264", "bc")
	}
	if b.title == "" {
		b = brief{title: m.get("200", "ae"), author: m.get("700", "ab"), note: m.get("210", "cd")}
	}
	b.title = strings.TrimRight(b.title, " /:;,")
	return b
}
