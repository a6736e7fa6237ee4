package digitallink

import (
	"encoding/base64"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/urnd/urnd/uri"
	"github.com/urnd/urnd/urnns"
)

// EPC returns the path of an identifier that is encoded as the bits of a tag: a segment "eh" and hexadecimal
// digits, or "ex" and base64url, of GS1 Digital Link: Compression 1.0. ok is false if the segment has neither
// form. Supported tags are SGTIN-96 and SGTIN-198 (EPC Tag Data Standard sections 14.6.1 and 14.6.2). The error
// is a *uri.ParseError.
func EPC(segment string) (path string, ok bool, err error) {
	var tag []byte
	switch {
	case strings.HasPrefix(segment, "eh"):
		tag, err = hex.DecodeString(segment[2:])
	case strings.HasPrefix(segment, "ex"):
		tag, err = base64.RawURLEncoding.DecodeString(segment[2:])
	default:
		return "", false, nil
	}
	if err != nil {
		return "", true, failsEPC(segment, ruleEPCEncoding)
	}
	r := bitReader{bits: tag}
	header := r.number(8)
	const sgtin96, sgtin198 = 0x30, 0x36
	if header != sgtin96 && header != sgtin198 {
		return "", true, failsEPC(segment, ruleEPCTag)
	}
	r.number(3) // filter value
	gtin, ok := r.gtin()
	serial := ""
	switch {
	case !ok:
	case header == sgtin96:
		serial = strconv.FormatUint(r.number(38), 10)
	default:
		serial, ok = r.text(20)
	}
	if !ok || r.short || len(r.bits) > 25 {
		return "", true, failsEPC(segment, ruleEPCBits)
	}
	return "/01/" + gtin + "/21/" + uri.Escape(serial, ""), true, nil
}

const sectionEPC = "GS1 Digital Link: Compression section 4"

var (
	ruleEPCEncoding = uri.Rule{
		Code: "epc_encoding", Name: "EPC", Section: sectionEPC,
		Requirement: "the bits are eh and pairs of hexadecimal digits, or ex and base64url",
	}
	ruleEPCTag = uri.Rule{
		Code: "epc_tag", Name: "EPC", Section: sectionEPC,
		Requirement: "only tags of SGTIN-96 and SGTIN-198 are known",
	}
	ruleEPCBits = uri.Rule{
		Code: "epc_bits", Name: "EPC", Section: sectionEPC,
		Requirement: "the bits are not those of a GTIN with a serial number",
	}
)

func failsEPC(segment string, rule uri.Rule) error {
	return &uri.ParseError{Input: segment, Rule: rule}
}

// bitReader reads numbers from bits, most significant bit first. Missing bits read as zeros, and set short.
type bitReader struct {
	bits  []byte
	at    int
	short bool
}

func (r *bitReader) number(width int) (n uint64) {
	for range width {
		n <<= 1
		if r.at >= 8*len(r.bits) {
			r.short = true
			continue
		}
		n |= uint64(r.bits[r.at/8]>>(7-r.at%8)) & 1
		r.at++
	}
	return n
}

// gtin reads a partition, a company prefix and an item reference, whose first digit is that of the GTIN.
func (r *bitReader) gtin() (gtin string, ok bool) {
	partitions := [...]struct{ prefixBits, prefixDigits, itemBits int }{
		{40, 12, 4}, {37, 11, 7}, {34, 10, 10}, {30, 9, 14}, {27, 8, 17}, {24, 7, 20}, {20, 6, 24},
	}
	n := int(r.number(3)) //nolint:gosec // it has three bits
	if n >= len(partitions) {
		return "", false
	}
	of := partitions[n] //nolint:gosec // the index was checked
	prefix, item := padded(r.number(of.prefixBits), of.prefixDigits), padded(r.number(of.itemBits), 13-of.prefixDigits)
	if len(prefix) != of.prefixDigits || len(item) != 13-of.prefixDigits {
		return "", false
	}
	digits := item[:1] + prefix + item[1:]
	return digits + string(urnns.CheckDigitGS1(digits)), true
}

// text reads characters of seven bits, up to the first zero or most of them.
func (r *bitReader) text(most int) (text string, ok bool) {
	var b strings.Builder
	for range most {
		c := byte(r.number(7)) //nolint:gosec // it has seven bits
		if c == 0 {
			break
		}
		if !Set82.has(c) {
			return "", false
		}
		b.WriteByte(c)
	}
	return b.String(), b.Len() > 0
}

// padded returns a number in decimal, padded with zeros on the left.
func padded(n uint64, digits int) string {
	text := strconv.FormatUint(n, 10)
	return strings.Repeat("0", max(digits-len(text), 0)) + text
}
