package gopher_test

import (
	"errors"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
)

// TestPlusAnswer has the three ways in which a response ends: Gopher+ section 2.3. No truncated response counts
// as complete.
func TestPlusAnswer(t *testing.T) {
	for _, c := range []struct {
		answer, want string
		length       int64
	}{
		{"+7\r\n.\r\ntext", ".\r\ntext", 7},
		{"+0\r\n", "", 0},
		{"+4\ntextmore", "text", 4},
		{"+-1\r\na\r\n..b\r\n.c\r\n.\r\n", "a\r\n.b\r\n.c\r\n", -1},
		{"+-1\r\na\r\n.\r\nmore", "a\r\n", -1},
	} {
		for _, kind := range []string{"0", "9"} {
			p := respond(t, c.answer)
			r := fetch(t, handler(), "gopher://"+p.addr+"/"+kind+"a%09%09+")
			if got := read(t, r); got != c.want || r.ContentLength != c.length {
				t.Errorf("%q: %q, %d bytes", c.answer, got, r.ContentLength)
			}
		}
		whole := strings.TrimSuffix(strings.TrimSuffix(c.answer, "more"), "\r\n.\r\nmore")
		for i := range len(whole) {
			p := respond(t, whole[:i])
			r, err := handler().Fetch(t.Context(), request(t, http.MethodGet, "gopher://"+p.addr+"/0a%09%09+"))
			if err == nil {
				_, err = io.ReadAll(r.Body)
			}
			if !errors.Is(err, resolver.ErrUnreachable) {
				t.Errorf("%q: %v", whole[:i], err)
			}
		}
	}
	p := respond(t, "+-2\r\na\r\n.\r\n..b")
	if got := read(t, fetch(t, handler(), "gopher://"+p.addr+"/0a%09%09+")); got != "a\r\n.\r\n..b" {
		t.Errorf("%q", got)
	}
	for _, plain := range []string{"+text", "+-3\r\n", "+1x\r\n", "++1\r\n", "+\r\n", "+-0\r\n", "text"} {
		p := respond(t, plain)
		if got := read(t, fetch(t, handler(), "gopher://"+p.addr+"/0a%09%09+")); got != plain {
			t.Errorf("%q: %q", plain, got)
		}
	}
}

func TestPlusFailure(t *testing.T) {
	for answer, want := range map[string]scheme.StatusError{
		"--1\r\n1 <a@b>\r\nNo\x07 such item\r\n.\r\n": {Status: http.StatusNotFound, Reply: "No\uFFFD such item"},
		"--2\r\n2 <a@b>\r\nToo\r\nmuch\r\n":           {Status: http.StatusServiceUnavailable, Reply: "Too\nmuch"},
		"-3\r\n1 a":                                   {Status: http.StatusNotFound, Reply: "1 a"},
		"--2\r\n9\r\nOdd\r\n":                         {Status: http.StatusBadGateway, Reply: "Odd"},
		"--2\r\n":                                     {Status: http.StatusBadGateway},
		"--2\r\n3 <a@b>\r\n0New\t\terror.host\t1\r\n": {Status: http.StatusNotFound, Reply: "0New\t\terror.host\t1"},
		"--2\r\n3 a\r\nhNew\tURL:javascript:a\th\t70\n": {
			Status: http.StatusNotFound,
			Reply:  "hNew\tURL:javascript:a\th\t70",
		},
	} {
		for _, path := range []string{"/0a%09%09+", "/1a%09%09+", "/0a%09%09!"} {
			p := respond(t, answer)
			_, err := handler().Fetch(t.Context(), request(t, http.MethodGet, "gopher://"+p.addr+path))
			var refusal *scheme.StatusError
			if !errors.As(err, &refusal) || !reflect.DeepEqual(*refusal, want) {
				t.Errorf("%q: %v", answer, err)
			}
		}
	}
	p := respond(t, "--1\r\n3 <a@b>\r\n0New\tnew item\texample.org\t7070\t+\r\n.\r\n")
	for _, path := range []string{"/0a%09%09+", "/1a%09%09+", "/0a%09%09!"} {
		if r := fetch(t, handler(), "gopher://"+p.addr+path); r.Status != http.StatusFound ||
			r.Fields.Get("Location") != "gopher://example.org:7070/0new%20item" {
			t.Errorf("%+v", r)
		}
	}
}

// attributesText has the examples of Gopher+ sections 2.5 and 2.8.
const attributesText = "+-1\r\n" +
	"+INFO: 0Some file or other\tmoo selector\thost2\t70\t+\r\n" +
	"+ADMIN:\r\n Admin: Frodo Gophermeister <fng@bogus.edu>\r\n Mod-Date: Wed Jul 28 17:02:01 1993 " +
	"<19930728170201>\r\n" +
	"+VIEWS:\r\n Text/plain: <10k>\r\n application/postscript De_DE: <100k>\r\n GView\r\n image/Gif: <1k>\r\n " +
	"nonsense\r\n" +
	"+ABSTRACT: 0long abstract\tselector\thost2\t70\t+\r\n This is a short (but multi-line)\r\nabstract\r\n" +
	"+ASK:\r\n Ask: How many volts?\t220\r\n Choose: Deliver electric shock to administrator now?\tYes\tNot!\r\n" +
	"+URL: https://user:secret@example.org/\r\n+URL: http://example.org/\r\n+3D-ICON:\r\n odd\r\n.\r\n"

func TestDescription(t *testing.T) {
	p := respond(t, attributesText)
	base := "gopher://" + p.addr
	for _, command := range []string{"!", "?", "!+VIEWS"} {
		l := fetch(t, handler(), base+"/0moo%09%09"+command).Listing
		want := &scheme.Listing{
			Kind: scheme.KindDescription, Title: "Some file or other", URI: base + "/0moo%09%09" + command,
			Parent: &scheme.Link{Text: "moo", URI: base + "/0moo"},
			Notes: []string{
				"This is a short (but multi-line) abstract",
				"The server requires answers to these questions before it sends the item. This page cannot send them.",
			},
			Properties: []scheme.Property{
				{Name: "Admin", Value: "Frodo Gophermeister <fng@bogus.edu>"},
				{Name: "Mod-Date", Value: "Wed Jul 28 17:02:01 1993 <19930728170201>"},
				{Name: "ABSTRACT", Value: "long abstract", URI: "gopher://host2/0selector"},
				{Name: "Ask", Value: "How many volts? | 220"},
				{Name: "Choose", Value: "Deliver electric shock to administrator now? | Yes | Not!"},
				{Name: "URL", Value: "http://example.org/", URI: "http://example.org/"},
				{Name: "3D-ICON", Value: "odd"},
			},
			Items: []scheme.Item{
				{
					Kind: scheme.ItemText, Name: "Text/plain", Type: "text/plain", URI: base + "/0moo%09%09+Text/plain",
					Note: "about 10k",
				},
				{
					Kind: scheme.ItemFile, Name: "application/postscript De_DE", Type: "application/postscript",
					URI: base + "/0moo%09%09+application/postscript%20De_DE", Note: "about 100k",
				},
				{Kind: scheme.ItemFile, Name: "GView", URI: base + "/0moo%09%09+GView"},
				{
					Kind: scheme.ItemImage, Name: "image/Gif", Type: "image/gif", URI: base + "/0moo%09%09+image/Gif",
					Note: "about 1k",
				},
			},
		}
		if !reflect.DeepEqual(l, want) {
			t.Errorf("%s:\n%+v, want\n%+v", command, l, want)
		}
	}
}

func TestDescriptions(t *testing.T) {
	p := respond(t,
		"+-2\r\n+INFO: 0Salmon dogs\tsome selector\thost2\t70\t+\r\n+ADMIN:\r\n Admin: Frodo <fng@bogus.edu>\r\n "+
			"Mod-Date: August 15, 1992 <19920815185503>\r\n"+
			"+VIEWS:\r\n Text/plain: <10k>\r\n application/Postscript De_DE: <100k>\r\n+ABSTRACT:\r\n A great "+
			"recipe\r\n+INFO: 1Form\tf\thost3\t71\t?\r\n+ASK:\r\n Ask: What?\r\n")
	l := fetch(t, handler(), "gopher://"+p.addr+"/1dir%09%09$").Listing
	want := []scheme.Item{
		{
			Kind: scheme.ItemText, Name: "Salmon dogs", URI: "gopher://host2/0some%20selector", Type: "text/plain",
			Note: "A great recipe", From: "Frodo <fng@bogus.edu>",
			Modified: time.Date(1992, 8, 15, 18, 55, 3, 0, time.UTC),
		},
		{Kind: scheme.ItemForm, Name: "Form", URI: "gopher://host3:71/1f%09%09?"},
	}
	if !reflect.DeepEqual(l.Items, want) || l.Kind != scheme.KindMenu || l.Parent.URI != "gopher://"+p.addr+"/1dir" {
		t.Errorf("%+v", l)
	}
}

// TestViewsOfLongSelector: each view has a link that starts with the URL of the item, so a longer URL allows
// fewer views.
func TestViewsOfLongSelector(t *testing.T) {
	p := respond(t, "+-1\r\n+INFO: 0a\ts\th\t70\t+\r\n+VIEWS:\r\n"+strings.Repeat(" Text/plain: <1k>\r\n", 900)+".\r\n")
	for length, want := range map[int]int{
		1:    900,
		7500: limits().MaxEntries(strings.Repeat("a", 7500+len("gopher://"+p.addr+"/0%09%09!"))) - 2,
	} {
		l := fetch(t, handler(), "gopher://"+p.addr+"/0"+strings.Repeat("a", length)+"%09%09!").Listing
		size := 0
		for _, item := range l.Items {
			size += len(item.URI)
		}
		if len(l.Items) != want || (l.Incomplete == "") != (want == 900) || int64(size) > limits().Bytes {
			t.Errorf("%d bytes: %d items of %d bytes, %q", length, len(l.Items), size, l.Incomplete)
		}
	}
}
