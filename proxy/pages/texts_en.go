package pages

func english() texts {
	return texts{
		Colon: ": ", Skip: "Skip to the content", Start: "Start", Main: "This site", Languages: "Language", Contact: "Contact", Imprint: "Imprint",
		Privacy: "Privacy", Where: "Where this is",

		Welcome:   "This server resolves names: it redirects to the location of the resource that a URN names.",
		FormLabel: "A URN, a URL, an ISBN, ISSN or DOI:", LookUp: "Look up",
		Append:   "Or append it to the address of this server, as in %s.",
		Examples: "Examples", Gateways: "Files, menus, articles and records of ftp, gopher, news and library servers are at %s.",
		Namespaces: "Namespaces", NamespacesLead: "Names of these namespaces lead somewhere by a rule of this server:",
		NamespacesKnown: "Of all %s namespaces that are registered it knows how names are written.",

		FetchTitle: "Fetch a URL",
		FetchSays:  "This server retrieves what browsers no longer do: files, menus, articles and records, and shows them as pages.",
		FetchLabel: "A URL of ftp, gopher, news, nntp, wais, telnet or of the web:", Fetch: "Fetch",

		NotValid: "This name is not valid", NameNotFound: "This name was not found", AddressNotFound: "This address was not found",
		NameGone: "This name is no longer in use", AddressGone: "This address is no longer in use", NotNow: "This name cannot be resolved now",
		Reserved:   "It is reserved, and leads nowhere yet.",
		NoResource: "The site to which it belongs has no resource for it.",
		NoAddress:  "Nothing is registered at this address. It may be misspelt, or the link that led here is wrong.",
		Nobody:     "Nobody whom this server can ask knows it.", OwnerWithdrew: "Its owner has withdrawn it.",
		NoAnswer: "A server that must be asked does not answer. Try again later.", Busy: "The server is busy. Try again in a moment.",
		CannotLookUp: "This server cannot look it up.", AtMark: "Error at the marked character: %s", EndOfInput: "its end",
		OpenThis: "Open this?", Led: "Another page may have led you here. Open %s only if you trust what it sends to a server.",
		Withdrawn: "Withdrawn on %s", Instead: "In its place:", Questions: "Questions: %s",
		Sandbox: "This name is for trial, and may be removed.", DidYouMean: "Did you mean %s?", Details: "Details",
		Status: "Status %s.", Octet: "Octet %s.",

		Unreached: "This %s cannot be reached", NoSuch: "There is no such %s", PasswordNeeded: "A password is needed",
		Refuses:       "The server refuses",
		ProxyNoAnswer: "The proxy on the way to this site got no response from it: %s",
		ProxyBusy:     "The proxy on the way to this site is busy. Try again in a moment.",
		ProxyRefused:  "The proxy on the way to this site did not forward the request: %s",
		FetchNoAnswer: "Its server cannot be reached, or does not answer as it should: %s",
		FetchBusy:     "This server is busy. Try again in a moment.", FetchRefused: "This server does not fetch it: %s",
		Reason: "The reason: %s", HasNot: "The server has no such %s.", HadOnce: "The server had it once, and has it no longer.",
		OnlyUsers: "The server gives it only to users with a name and a password.", NotEverybody: "The server does not give it to everybody.",
		NotUnderstood: "The server does not understand this address.", CannotDo: "The server cannot do what is needed for it.",
		ServerBusy: "The server is busy, or has too many visitors. Try again later.", Failed: "The server could not do it. Try again later.",

		NoneKnown: "None is known.",

		InUse: "It is in use.", Since: "Since %s.", LeadsTo: "Where it leads", NotAnswering: "its server does not answer now",
		Related: "What belongs to it", OtherNames: "Other names of it", Cite: "To cite it", QRCode: "QR code of this name",
		OtherFormats: "For programs:", Versions: "How it was", AllVersions: "All versions", HowResolved: "How it was resolved",
		StepByStep: "Step by step", AllSteps: "Resolve it once more, with all steps (JSON)",

		Up: "Up:", Previous: "Previous:", Next: "Next:", More: "More", Warning: "Warning", NotAll: "This is not all: %s",
		ServerSays: "What the server says", Words: "Words", Search: "Search", Open: "Open %s",
		Kind: "Kind", Name: "Name", Size: "Size", Changed: "Changed (UTC)", Entries: "Entries", Articles: "Articles",
		UnitEntries: "entries", UnitArticles: "articles", Octets: "%s octets",
		OneEntry: "1 entry", ManyEntries: "%s entries", OneGroup: "1 newsgroup", ManyGroups: "%s newsgroups", Files: "Files",
		EmptyDirectory: "This directory is empty.", EmptyMenu: "This menu is empty.", EmptyGroups: "There are no newsgroups.",
		EmptyGroup: "There are no articles.", EmptyResults: "Nothing was found.",
		Folder: "folder", WebPage: "web page", Group: "group", Info: "text", File: "file", Link: "link", Text: "text", Image: "image",
		Sound: "sound", Video: "video", Document: "document", Archive: "archive", SearchKind: "search", Form: "form", Session: "session",
		Article: "article", Error: "error", Other: "other",
	}
}
