package urnns

// Builtin returns the namespaces that urnd knows without configuration. To
// add one, write its row in a file of its own and name it here.
func Builtin() []Namespace {
	return []Namespace{ietf(), isbn(), issn(), nbn(), oid(), uuid()}
}
