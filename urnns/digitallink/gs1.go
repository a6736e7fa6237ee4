package digitallink

// GS1 returns the scheme of the GS1 application identifiers: the GS1 Syntax Dictionary of July 2026.
func GS1() *Scheme {
	return &Scheme{
		Name: "GS1 Digital Link", Keys: gs1Keys(), Attributes: gs1Attributes(), HasTags: true,
		PublicResolver: "https://id.gs1.org/",
	}
}

func gs1Keys() []Key {
	digits := func(n int, check Check) []Part { return []Part{{Set: Numeric, Min: n, Max: n, Check: check}} }
	upTo := func(n int) []Part { return []Part{{Set: Set82, Min: 1, Max: n}} }
	withPrefix := func(set Set, n int, check Check) []Part {
		return []Part{{Set: set, Min: prefixDigits, Max: n, Check: check, Digits: prefixDigits}}
	}
	followed := func(parts []Part, more Part) []Part { return append(parts, more) }
	variant, lot, serial := Field{Code: "22", Name: "CPV", Value: upTo(20)},
		Field{Code: "10", Name: "lot", Value: upTo(20)},
		Field{Code: "21", Name: "serial", Value: upTo(20)}
	party := Field{Code: "7040", Name: "UIC+EXT", Value: followed(digits(1, NoCheck), Part{Set: Set82, Min: 3, Max: 3})}
	// GS1-Conformant Resolver standard section 2.5.9: links of a serial number are registered without lot and
	// variant.
	trade := [][]string{{"21"}, {"22", "10"}, {"10"}, {"22"}}
	number := Part{Set: Numeric, Max: 12}
	return []Key{
		{Field: Field{Code: "00", Name: "SSCC", Value: digits(18, CheckDigit)}},
		{
			Field:  Field{Code: "01", Name: "GTIN", Value: digits(14, CheckDigit), Pad: 14, Short: []int{8, 12, 13}},
			Chains: [][]Field{{variant, lot, serial}, {{Code: "235", Name: "TPX", Value: upTo(28)}}},
			Levels: append([][]string{{"235"}}, trade...),
		},
		{Field: Field{Code: "253", Name: "GDTI", Value: followed(digits(13, CheckDigit), Part{Set: Set82, Max: 17})}},
		{Field: Field{Code: "255", Name: "GCN", Value: followed(digits(13, CheckDigit), number)}},
		{Field: Field{Code: "401", Name: "GINC", Value: withPrefix(Set82, 30, NoCheck)}},
		{Field: Field{Code: "402", Name: "GSIN", Value: digits(17, CheckDigit)}},
		{
			Field:  Field{Code: "414", Name: "GLN", Value: digits(13, CheckDigit)},
			Chains: [][]Field{{{Code: "254", Name: "GLN extension", Value: upTo(20)}}, {party}},
			Levels: [][]string{{"254"}, {"7040"}},
		},
		{
			Field:    Field{Code: "415", Name: "GLN of who is paid", Value: digits(13, CheckDigit)},
			Chains:   [][]Field{{{Code: "8020", Name: "REF No.", Value: upTo(25)}}},
			Required: "8020", Levels: [][]string{{"8020"}},
		},
		{
			Field: Field{Code: "417", Name: "party GLN", Value: digits(13, CheckDigit)}, Chains: [][]Field{{party}},
			Levels: [][]string{{"7040"}},
		},
		{Field: Field{Code: "8003", Name: "GRAI", Value: []Part{
			{Set: Numeric, Min: 1, Max: 1, Prefix: "0"},
			{Set: Numeric, Min: 13, Max: 13, Check: CheckDigit},
			{Set: Set82, Max: 16},
		}}},
		{
			Field: Field{Code: "8004", Name: "GIAI", Value: withPrefix(Set82, 30, NoCheck)}, Chains: [][]Field{{party}},
			Levels: [][]string{{"7040"}},
		},
		{
			Field: Field{
				Code: "8006", Name: "ITIP",
				Value: followed(digits(14, CheckDigit), Part{Set: Numeric, Min: 4, Max: 4}),
			},
			Chains: [][]Field{{variant, lot, serial}}, Levels: trade,
		},
		{
			Field: Field{Code: "8010", Name: "CPID", Value: withPrefix(Set39, 30, NoCheck)},
			Chains: [][]Field{{{
				Code: "8011", Name: "CPID serial",
				Value: []Part{{Set: Numeric, Min: 1, Max: 12, Check: NoZeroes}},
			}}}, Levels: [][]string{{"8011"}},
		},
		{Field: Field{Code: "8013", Name: "GMN", Value: withPrefix(Set82, 25, CheckPair)}},
		{
			Field:  Field{Code: "8017", Name: "GSRN of a provider", Value: digits(18, CheckDigit)},
			Chains: [][]Field{{relation()}}, Levels: [][]string{{"8019"}},
		},
		{
			Field:  Field{Code: "8018", Name: "GSRN of a recipient", Value: digits(18, CheckDigit)},
			Chains: [][]Field{{relation()}}, Levels: [][]string{{"8019"}},
		},
	}
}

// prefixDigits is the least number of leading digits of a GS1 Company Prefix.
const prefixDigits = 4

func relation() Field {
	return Field{Code: "8019", Name: "SRIN", Value: []Part{{Set: Numeric, Min: 1, Max: 10}}}
}

// gs1Attributes returns the data attributes that are common for a GTIN.
func gs1Attributes() []Field {
	field := func(code, name string, set Set, least, most int) Field {
		return Field{Code: code, Name: name, Value: []Part{{Set: set, Min: least, Max: most}}}
	}
	all := []Field{
		field("11", "production date", Numeric, 6, 6), field("13", "packaging date", Numeric, 6, 6),
		field("15", "best before date", Numeric, 6, 6), field("16", "sell by date", Numeric, 6, 6),
		field("17", "expiration date", Numeric, 6, 6), field("30", "count", Numeric, 1, 8),
		field("37", "count", Numeric, 1, 8), field("90", "internal", Set82, 1, 30),
		field("7003", "expiration date and time", Numeric, 10, 10),
	}
	for _, code := range []string{"410", "411", "412", "413", "416"} {
		all = append(all, Field{
			Code: code, Name: "GLN",
			Value: []Part{{Set: Numeric, Min: 13, Max: 13, Check: CheckDigit}},
		})
	}
	return all
}
