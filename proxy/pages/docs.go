package pages

// Docs is a page about an API, in English, whose content another package has made.
type Docs struct {
	Title   string // of a group of operations, "" for the index
	Root    string // the path of the index
	Path    string // the path of the page
	Content Content
}

// Docs returns a page about the API.
func (w Writer) Docs(d *Docs) Page {
	title := w.Text("api.title")
	if d.Title != "" {
		title = d.Title + " – " + title
	}
	page := struct {
		Frame
		Heading string
		IsIndex bool
		Content Content
	}{w.frame(title, here, d.Path), d.Title, d.Title == "", d.Content}
	page.Head = w.design.docs.element
	if !page.IsIndex {
		page.Crumbs = []Entry{w.entry(w.Text("api.title"), d.Root, "")}
	}
	page.Languages = w.inLanguages(func(parameter string) string { return d.Path + "?" + parameter })
	return w.execute("docs.html", &w.design.docs, page)
}
