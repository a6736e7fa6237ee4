package urnns

// Builtin returns the namespaces that urnd knows without configuration: those
// of the IANA registry. To add one, write its row in a file of its own and name
// it here, or, where it needs no code, as a line of iana.tsv.
func Builtin() []Namespace {
	return append(iana(), eidr(), ietf(), isan(), isbn(), issn(), lei(), nbn(), oid(), uuid())
}
