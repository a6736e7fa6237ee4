package pages

func french() texts {
	return texts{
		Colon: " : ", Skip: "Aller au contenu", Start: "Accueil", Main: "Ce site", Languages: "Langue", Contact: "Contact", Imprint: "Mentions légales",
		Privacy: "Confidentialité", Where: "Où l’on est",

		Welcome:   "Ce serveur résout des noms : il redirige vers l’emplacement de la ressource qu’un URN désigne.",
		FormLabel: "Un URN, un URL, un ISBN, un ISSN ou un DOI :", LookUp: "Chercher",
		Append:   "Ou ajoutez-le à l’adresse de ce serveur, comme dans %s.",
		Examples: "Exemples", Gateways: "Les fichiers, menus, articles et notices des serveurs FTP, Gopher, News et de bibliothèques sont à la page %s.",
		Namespaces: "Espaces de noms", NamespacesLead: "Une règle de ce serveur dit où mènent les noms de ces espaces :",
		NamespacesKnown: "Il connaît l’orthographe des noms de tous les espaces enregistrés, au nombre de %s.",

		FetchTitle: "Récupérer un URL",
		FetchSays:  "Ce serveur récupère ce que les navigateurs ne savent plus lire : fichiers, menus, articles et notices, et les montre comme des pages.",
		FetchLabel: "Un URL ftp, gopher, news, nntp, wais, telnet ou du web :", Fetch: "Récupérer",

		NotValid: "Ce nom n’est pas valide", NameNotFound: "Ce nom est introuvable", AddressNotFound: "Cette adresse est introuvable",
		NameGone: "Ce nom n’est plus utilisé", AddressGone: "Cette adresse n’est plus utilisée", NotNow: "Ce nom ne peut pas être résolu pour le moment",
		Reserved:   "Il est réservé et ne mène encore nulle part.",
		NoResource: "L’organisme auquel il appartient n’a pas de ressource pour lui.",
		NoAddress:  "Rien n’est enregistré à cette adresse. Elle est peut-être mal orthographiée, ou le lien qui mène ici est faux.",
		Nobody:     "Aucun des serveurs que celui-ci peut interroger ne le connaît.", OwnerWithdrew: "Son propriétaire l’a retiré.",
		NoAnswer: "Un serveur qui doit être interrogé ne répond pas. Réessayez plus tard.",
		Busy:     "Le serveur est occupé. Réessayez dans un instant.", CannotLookUp: "Ce serveur ne peut pas le chercher.",
		AtMark: "Erreur au caractère marqué : %s", EndOfInput: "la fin",
		OpenThis:  "Voulez-vous ouvrir ceci ?",
		Led:       "Une autre page vous a peut-être mené ici. N’ouvrez %s que si vous faites confiance à ce qui est alors envoyé à un serveur.",
		Withdrawn: "Retiré le %s", Instead: "À sa place :", Questions: "Questions : %s",
		Sandbox: "Ce nom est à l’essai et peut être supprimé.", DidYouMean: "Vouliez-vous dire %s ?", Details: "Détails",
		Status: "Statut %s.", Octet: "Octet %s.",

		Unreached: "Impossible à joindre : %s", NoSuch: "N’existe pas : %s", PasswordNeeded: "Un mot de passe est nécessaire",
		Refuses:       "Le serveur refuse",
		ProxyNoAnswer: "Le proxy entre vous et ce site n’en a reçu aucune réponse : %s",
		ProxyBusy:     "Le proxy entre vous et ce site est occupé. Réessayez dans un instant.",
		ProxyRefused:  "Le proxy entre vous et ce site n’a pas transmis la requête : %s",
		FetchNoAnswer: "Son serveur ne peut pas être joint, ou ne répond pas comme il devrait : %s",
		FetchBusy:     "Ce serveur est occupé. Réessayez dans un instant.", FetchRefused: "Ce serveur ne le récupère pas : %s",
		Reason: "La raison : %s", HasNot: "Le serveur ne l’a pas : %s.", HadOnce: "Le serveur l’avait, et ne l’a plus.",
		OnlyUsers: "Le serveur ne le donne qu’aux utilisateurs qui ont un nom et un mot de passe.", NotEverybody: "Le serveur ne le donne pas à tout le monde.",
		NotUnderstood: "Le serveur ne comprend pas cette adresse.", CannotDo: "Le serveur ne sait pas faire ce qu’il faut pour cela.",
		ServerBusy: "Le serveur est occupé, ou a trop de visiteurs. Réessayez plus tard.", Failed: "Le serveur n’a pas pu le faire. Réessayez plus tard.",

		NoneKnown: "Rien n’est connu.",

		InUse: "Il est en usage.", Since: "Depuis le %s.", LeadsTo: "Où il mène", NotAnswering: "son serveur ne répond pas pour le moment",
		Related: "Ce qui s’y rattache", OtherNames: "Ses autres noms", Cite: "Pour le citer", QRCode: "Code QR de ce nom",
		OtherFormats: "Pour les programmes :", Versions: "Ses états antérieurs", AllVersions: "Toutes les versions",
		HowResolved: "Comment il a été résolu", StepByStep: "Étape par étape", AllSteps: "Le résoudre à nouveau, avec toutes les étapes (JSON)",

		Up: "Plus haut :", Previous: "Précédent :", Next: "Suivant :", More: "Suite", Warning: "Avertissement", NotAll: "Ce n’est pas tout : %s",
		ServerSays: "Ce que dit le serveur", Words: "Mots", Search: "Chercher", Open: "Ouvrir %s",
		Kind: "Genre", Name: "Nom", Size: "Taille", Changed: "Modifié (UTC)", Entries: "Entrées", Articles: "Articles",
		UnitEntries: "entrées", UnitArticles: "articles", Octets: "%s octets",
		OneEntry: "1 entrée", ManyEntries: "%s entrées", OneGroup: "1 groupe de discussion", ManyGroups: "%s groupes de discussion", Files: "Fichiers",
		EmptyDirectory: "Ce répertoire est vide.", EmptyMenu: "Ce menu est vide.", EmptyGroups: "Il n’y a pas de groupes de discussion.",
		EmptyGroup: "Il n’y a pas d’articles.", EmptyResults: "Rien n’a été trouvé.",
		Folder: "dossier", WebPage: "page web", Group: "groupe", Info: "texte", File: "fichier", Link: "lien", Text: "texte", Image: "image",
		Sound: "son", Video: "vidéo", Document: "document", Archive: "archive", SearchKind: "recherche", Form: "formulaire", Session: "session",
		Article: "article", Error: "erreur", Other: "autre",
	}
}
