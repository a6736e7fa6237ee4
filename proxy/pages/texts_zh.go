package pages

func chinese() texts {
	return texts{
		Colon: "：", Skip: "跳到正文", Start: "首页", Main: "本站", Languages: "语言", Contact: "联系方式", Imprint: "版权与法律信息", Privacy: "隐私", Where: "所在位置",

		Welcome:   "本服务器解析名称：将请求重定向到 URN 所命名的资源的位置。",
		FormLabel: "URN、URL、ISBN、ISSN 或 DOI：", LookUp: "查询",
		Append:   "也可以将其附加在本服务器的地址之后，例如 %s。",
		Examples: "示例", Gateways: "FTP、Gopher、新闻组和图书馆服务器上的文件、菜单、文章和记录可在%s页面获取。",
		Namespaces: "命名空间", NamespacesLead: "本服务器有规则指出以下命名空间的名称通向何处：",
		NamespacesKnown: "本服务器了解全部 %s 个已注册命名空间的名称写法。",

		NamespacesAll: "全部命名空间",
		SpacesSay:     "每个 URN 命名空间都有一份规则文件，规定名称如何书写，以及哪些名称相同。",
		SpaceFilter:   "标识符或文件的一部分，例如 nbn 或 RFC 8458：", SpaceFind: "筛选",
		OneSpace: "1 个命名空间", ManySpaces: "%s 个命名空间", SpaceTitle: "命名空间 %s",
		SpaceSource: "文件", SpaceConfigured: "本服务器的配置", SpacePattern: "模式（RE2）", SpaceForm: "格式", SpaceChecks: "校验码", SpaceSame: "等价",
		SpaceLeads: "名称通向何处（按此顺序）",
		CheckForm:  "名称必须符合文件规定的格式。", CheckStrict: "校验码错误的名称无效。", CheckLenient: "校验码错误的名称会被接受，并给出警告。",
		FoldNone: "区分大小写。", FoldAll: "不区分大小写。", FoldFirst: "第一个冒号之前不区分大小写。",
		FoldPrefix: "第一个连字符之前不区分大小写；没有连字符时，第一个冒号之前不区分大小写。",
		StripSays:  "以下字符忽略不计：%s", SameISBN: "10 位 ISBN 与对应的 13 位 ISBN 是同一本书。", SameExcept: "部分名称例外，见文件。",
		LeadsRegistry: "本服务器的登记册", LeadsDNS: "DNS 中的规则（DDDS）", LeadsSLP: "网络中的服务（SLP）", LeadsOther: "其他解析服务器",
		LeadsAway: "本服务器的规则，通向 %s", LeadsRule: "本服务器的规则",

		Browse: "浏览", BrowseSays: "本网站登记的名称，按字母顺序排列。",
		NamesPrefix: "名称开头：", NamesWords: "标题中的词：", NamesHost: "指向的主机：",
		NamesTag: "标签：", NamesStatus: "状态：", StatusAny: "全部", StatusActive: "使用中",
		StatusReserved: "保留", StatusWithdrawn: "已撤回", ForTrial: "试用",
		MoreOfName:  "关于此名称的已知信息",
		LeadsToHost: "指向 %s", AnotherName: "%s 的另一个名称",
		SearchLate: "尚未搜索全部名称。", GoOn: "从此处继续搜索",
		SpaceNames: "登记的名称", OneName: "1 个名称", ManyNames: "%s 个名称",

		FetchTitle: "获取 URL",
		FetchSays:  "本服务器获取浏览器已不再支持的内容：文件、菜单、文章和记录，并以网页形式显示。",
		FetchLabel: "ftp、gopher、news、nntp、wais、telnet 或网页的 URL：", Fetch: "获取",

		NotValid: "此名称无效", NameNotFound: "未找到此名称", AddressNotFound: "未找到此地址",
		NameGone: "此名称已不再使用", AddressGone: "此地址已不再使用", NotNow: "目前无法解析此名称",
		Reserved: "它已被保留，尚未指向任何位置。", NoResource: "它所属的机构没有与之对应的资源。",
		NoAddress: "此地址没有登记任何内容。可能拼写有误，或者指向这里的链接有误。",
		Nobody:    "本服务器可以询问的各方都不知道它。", OwnerWithdrew: "其所有者已将它撤回。",
		NoAnswer: "必须询问的一台服务器没有应答。请稍后再试。", Busy: "服务器繁忙。请稍后片刻再试。", CannotLookUp: "本服务器无法查询它。",
		AtMark: "标记的字符处有错误：%s", EndOfInput: "末尾",
		OpenThis: "要打开它吗？", Led: "可能是另一个网页把您带到了这里。只有在您信任将发送给服务器的内容时，才打开 %s。",
		Withdrawn: "于 %s 撤回", Instead: "取而代之的是：", Questions: "如有疑问请联系：%s",
		Sandbox: "此名称仅供试用，可能会被删除。", DidYouMean: "您要找的是不是 %s？", Details: "详细信息",
		Status: "状态 %s。", Octet: "第 %s 个八位字节。",

		Unreached: "无法访问：%s", NoSuch: "不存在：%s", PasswordNeeded: "需要密码", Refuses: "服务器拒绝",
		ProxyNoAnswer: "通往该网站的代理没有收到它的应答：%s", ProxyBusy: "通往该网站的代理繁忙。请稍后片刻再试。",
		ProxyRefused:  "通往该网站的代理没有转发此请求：%s",
		FetchNoAnswer: "无法访问其服务器，或者它没有正常应答：%s", FetchBusy: "本服务器繁忙。请稍后片刻再试。", FetchRefused: "本服务器不获取它：%s",
		Denied: "其规则不允许此地址。",
		Reason: "原因：%s", HasNot: "服务器上没有：%s。", HadOnce: "服务器曾经有它，现在已经没有了。",
		OnlyUsers: "服务器只向有用户名和密码的用户提供它。", NotEverybody: "服务器不向所有人提供它。",
		NotUnderstood: "服务器不理解此地址。", CannotDo: "服务器无法完成所需的操作。",
		ServerBusy: "服务器繁忙，或访问者过多。请稍后再试。", Failed: "服务器未能完成。请稍后再试。",

		NoneKnown: "没有已知的条目。",

		InUse: "正在使用。", Since: "自 %s 起。", LeadsTo: "指向何处", NotAnswering: "其服务器目前没有响应", Related: "相关内容", OtherNames: "其他名称", Copy: "复制", Copied: "已复制", Cite: "引用",
		QRCode: "此名称的二维码", OtherFormats: "供程序使用：", Versions: "以往版本", AllVersions: "所有版本", HowResolved: "解析过程", StepByStep: "逐步说明",
		AllSteps: "重新解析并显示所有步骤",

		Up: "上一级：", Previous: "上一个：", Next: "下一个：", More: "更多", Warning: "警告", NotAll: "这不是全部：%s",
		ServerSays: "服务器的说明", Words: "词语", Search: "搜索", Open: "打开 %s",
		Kind: "类型", Name: "名称", Size: "大小", Changed: "修改时间 (UTC)", Entries: "条目", Articles: "文章",
		UnitEntries: "个条目", UnitArticles: "篇文章", Octets: "%s 个八位字节",
		OneEntry: "1 个条目", ManyEntries: "%s 个条目", OneGroup: "1 个新闻组", ManyGroups: "%s 个新闻组", Files: "文件",
		EmptyDirectory: "此目录为空。", EmptyMenu: "此菜单为空。", EmptyGroups: "没有新闻组。", EmptyGroup: "没有文章。", EmptyResults: "没有找到任何内容。",
		Folder: "文件夹", WebPage: "网页", Group: "组", Info: "文本", File: "文件", Link: "链接", Text: "文本", Image: "图像",
		Sound: "声音", Video: "视频", Document: "文档", Archive: "归档", SearchKind: "搜索", Form: "表单", Session: "会话",
		Article: "文章", Error: "错误", Other: "其他",

		ExplainSays:  "依次询问了下列系统；每条规则都列出它匹配了名称的哪一部分以及得出的结果。",
		ExplainCut:   "还有更多步骤，供程序使用的文档中列出了全部步骤。",
		ExplainJSON:  "供程序使用的相同内容（JSON）",
		ExplainAbout: "关于此名称的已知信息",
		RuleOf:       "%s 的规则", RuleUsed: "已使用", RulePossible: "不需要", RuleSkipped: "未使用",
		RuleOrder: "次序、优先级", RuleFlags: "标志", RuleServices: "服务", RuleExpression: "表达式", RuleReplacement: "替换",
		RuleMatched: "匹配内容", RuleResult: "结果", RuleWhyNot: "未使用的原因",
		FlagNext: "指向下一条规则", FlagURI: "结果是 URI", FlagServers: "结果有服务器（SRV）",
		FlagHost: "结果是主机", FlagProtocol: "后续由协议决定",

		APITitle: "编程接口（API）",
		APISays:  "程序如何查询本服务器：每个操作及其参数、响应和示例（英文）。",

		NoIdentifier: "这不是本服务器能识别的标识符。本服务器可查询 URN（例如 urn:ietf:rfc:2648）、URL、ISBN、ISSN 和 DOI。",
	}
}
