package pages

import "strconv"

// appendSize appends a number of octets in a unit of the SI, with two digits at least: "734 kB", "1.2 MB".
func appendSize(b []byte, octets int64) []byte {
	units := [...]string{" B", " kB", " MB", " GB", " TB", " PB", " EB"}
	n, unit := float64(octets), 0
	for ; n >= 999.5; n /= 1000 { // which is shown as 1000
		unit++
	}
	digits := 0
	if unit > 0 && n < 9.95 { // which is shown as 10
		digits = 1
	}
	return append(strconv.AppendFloat(b, n, 'f', digits, 64), units[unit]...)
}

// commas returns a number with a comma before each three digits.
func commas(n int64) string { return string(appendCommas(nil, n)) }

// appendCommas appends a number with a comma before each three digits.
func appendCommas(b []byte, n int64) []byte {
	const most = len("-9223372036854775808")
	var room [most]byte
	digits := strconv.AppendInt(room[:0], n, 10)
	if n < 0 {
		b, digits = append(b, '-'), digits[1:]
	}
	for i, digit := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b = append(b, ',')
		}
		b = append(b, digit)
	}
	return b
}
