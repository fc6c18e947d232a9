// What mdBook's pages lack for keyboards and screen readers.
"use strict";
(() => {
  // The toggle is a label: its title is its name, and it takes no state.
  const toggle = document.getElementById("mdbook-sidebar-toggle");
  for (const name of ["aria-label", "aria-controls", "aria-expanded"]) {
    toggle?.removeAttribute(name);
  }
  document.getElementById("mdbook-menu-bar")?.setAttribute("role", "banner");
  document.getElementById("mdbook-help-container")?.setAttribute("role", "region");
  // Wide blocks and tables scroll, so the keyboard has to reach them.
  for (const wide of document.querySelectorAll("pre, pre > code, .table-wrapper")) {
    if (wide.scrollWidth > wide.clientWidth || wide.scrollHeight > wide.clientHeight) {
      wide.tabIndex = 0;
    }
  }
})();
