// Colours for MLIR, which highlight.js does not know. The page has marked those blocks `plaintext mlir`.
hljs.registerLanguage("mlir", () => ({
  contains: [
    hljs.C_LINE_COMMENT_MODE,
    hljs.QUOTE_STRING_MODE,
    { className: "variable", begin: /%[\w.$-]+/ },
    { className: "title", begin: /[@^][\w.$-]+/ },
    { className: "type", begin: /[!#][\w.$-]+|\b(?:memref|tensor|vector)(?=<)|\b(?:index|b?f\d+\w*|i\d+)\b/ },
    { className: "keyword", begin: /\b(?!\d)\w+\.\w+(?:\.\w+)*|\breturn\b/ },
    { className: "attribute", begin: /\b(?:acc|zero_region|start_if|stop_if|after|tile|at|bank|offset|ins|outs)\b(?=[<(])/ },
    { className: "number", begin: /\b\d[\d.]*(?:e[+-]?\d+)?\b/ },
  ],
}));
for (const block of document.querySelectorAll("code.mlir")) {
  block.classList.remove("language-plaintext");
  block.classList.add("language-mlir");
  hljs.highlightBlock(block);
}
