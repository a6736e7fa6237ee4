package digitallink

// DataIdentifiers returns the scheme of the data identifiers of ASC MH10.8.2 with which ISO/IEC 15459 names
// products and returnable items, in the paths and queries of ISO/IEC 18975. A value starts with the code of the
// issuing agency of the company; the rest of its structure is defined by the company.
func DataIdentifiers() *Scheme {
	value := []Part{{Set: Set82, Min: 1, Max: 50}}
	serial, lot := Field{Code: "S", Name: "serial", Value: value}, Field{Code: "1T", Name: "lot", Value: value}
	return &Scheme{
		Name: "ISO/IEC 18975 data identifiers", HasDots: true,
		Keys: []Key{
			{
				Field:  Field{Code: "25P", Name: "product", Value: value},
				Chains: [][]Field{{lot, serial}}, Levels: [][]string{{"S"}, {"1T"}},
			},
			{Field: Field{Code: "25S", Name: "serialized product", Value: value}},
			{Field: Field{Code: "J", Name: "license plate", Value: value}},
			{Field: Field{Code: "25B", Name: "returnable item", Value: value}},
		},
	}
}

// SchemeOf returns the scheme with a name used in configurations, or nil.
func SchemeOf(name string) *Scheme {
	switch name {
	case "gs1":
		return GS1()
	case "data-identifiers":
		return DataIdentifiers()
	default:
		return nil
	}
}

// SchemeNames returns the names for SchemeOf.
func SchemeNames() []string { return []string{"gs1", "data-identifiers"} }

// Codes returns the codes of the primary keys, in order.
func (s *Scheme) Codes() []string {
	codes := make([]string, 0, len(s.Keys))
	for i := range s.Keys {
		codes = append(codes, s.Keys[i].Code)
	}
	return codes
}
