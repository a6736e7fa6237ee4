package adversary

import "strings"

// hostileText is hostile input of a form.
type hostileText struct {
	name, section string
	text          string
	encoded       bool // already percent-encoded, or several parameters
	isBytes       bool // sent raw where a client should encode it
}

// evil is the prefix of the names of elements and attributes in hostile texts. No page uses such names.
const evil = "evil"

func hostileTexts() []hostileText {
	const (
		markup   = "HTML section 13.1"
		fields   = "RFC 9110 section 17.11"
		form     = "URL section 5.1"
		data     = "RFC 3986 section 2"
		encoding = "RFC 3629 section 10"
	)
	return []hostileText{
		{name: "an element", section: markup, text: "<evil-a>x</evil-a>"},
		{name: "an element behind an attribute", section: markup, text: `"><evil-a evil=1>`},
		{name: "an element behind an attribute in single quotes", section: markup, text: `'><evil-a evil=1>`},
		{name: "an attribute", section: markup, text: `" evilattr="1" onfocus="evil()" autofocus x="`},
		{name: "an attribute in single quotes", section: markup, text: `' evilattr='1' onfocus='evil()' x='`},
		{name: "an attribute without quotes", section: markup, text: `a evilattr=1 onmouseover=evil()`},
		{
			name: "the end of what an element has", section: markup,
			text: `</title></style></script></textarea></code><script>evil()</script>`,
		},
		{name: "a comment", section: markup, text: `--><evil-a><!--`},
		{name: "a section of characters", section: "XML section 2.7", text: `]]><evil-a/>`},
		{name: "an entity", section: markup, text: `&lt;evil-a&gt;&#60;evil-a&#62;&evil;`},
		{name: "an image", section: markup, text: `<img src=x onerror=evil()>`},
		{
			name: "another address of forms", section: markup,
			text: `<base href=//evil.example/><form action=//evil.example/>`,
		},
		{name: "a template", section: markup, text: `{{7*7}}{{.}}${7*7}<%= 7*7 %>`},
		{name: "a script as URL", section: "HTML section 7.4.2.3.2", text: "javascript:evil()"},
		{name: "a script as URL, with a tab", section: "HTML section 7.4.2.3.2", text: "java\tscript:evil()"},
		{name: "a document as URL", section: "RFC 2397", text: "data:text/html,<script>evil()</script>"},
		{name: "another server as path", section: "RFC 3986 section 4.2", text: "//evil.example/a"},
		{name: "another server as path, with a backslash", section: "URL section 4.4", text: `/\evil.example/a`},
		{name: "the end of a line", section: fields, text: "a\r\nEvil: 1"},
		{name: "the end of the fields", section: fields, text: "a\r\n\r\n<evil-a>"},
		{name: "half of the end of a line", section: fields, text: "a\nEvil: 1"},
		{name: "an encoded end of a line, encoded", section: fields, text: "a%250d%250aEvil:%201", encoded: true},
		{name: "the other separators of lines", section: "Unicode section 5.8", text: "a\u2028Evil: 1\u2029\u0085\v\f"},
		{name: "NUL", section: data, text: "a\x00<evil-a>"},
		{name: "control characters", section: data, text: "a\x01\x08\x1b[31m\x7f\u0090"},
		{
			name: "letters that turn the text", section: "Unicode TR 36 section 2.1",
			text: "a\u202egnp.evil\u2066\u200b\ufeff",
		},
		{name: "bytes that are no text", section: encoding, text: "%ff%fe%80a", encoded: true},
		{name: "an encoding that is too long", section: encoding, text: "%c0%bcevil-a%c0%be%e0%80%bc", encoded: true},
		{name: "half of a surrogate pair", section: encoding, text: "%ed%a0%80%ed%bf%bf", encoded: true},
		{name: "a percent sign alone", section: data, text: "%%%2%zz%", encoded: true},
		{name: "nothing", section: form, text: ""},
		{name: "spaces", section: form, text: "   \t  "},
		{name: "2,000 letters", section: "RFC 9110 section 4.1", text: strings.Repeat("a", 2000)},
		{name: "2,000 letters that are escaped", section: "RFC 9110 section 4.1", text: strings.Repeat(`<"&'>`, 400)},
		{name: "60,000 letters", section: "RFC 9110 section 4.1", text: strings.Repeat("a", 60_000)},
		{name: "20,000 letters that are escaped", section: "RFC 9110 section 4.1", text: strings.Repeat(`<"&'>`, 4000)},
		{
			name: "1,000 parameters", section: form, text: "a" + strings.Repeat("&evil=%3Cevil-a%3E", 1000),
			encoded: true,
		},
		{
			name: "the same parameters again", section: form,
			text: "a" + strings.Repeat("&uri=%22%3E&lang=%3Cevil-a%3E&q=%00&next=//evil.example", 20), encoded: true,
		},
		{name: "parameters between semicolons", section: form, text: "a;uri=<evil-a>;lang=<evil-a>"},
		{name: "markup as it is", section: data, text: `"'><evil-a/evil=1><script>evil()</script>`, isBytes: true},
		{name: "bytes as they are", section: data, text: "\xff\xfe\x80<evil-a>", isBytes: true},
		{name: "NUL as it is", section: data, text: "a\x00<evil-a>", isBytes: true},
		{name: "a line feed as it is", section: fields, text: "a\nEvil: 1", isBytes: true},
	}
}
