// What a lesson needs of JupyterLab. Written by hand as the container that JupyterLab's
// loader asks for; nothing to build.
(() => {
  const PREDICTION = /^\*My prediction[^*]*\*/;

  // JupyterLab writes the version of the running Python into a notebook that is opened.
  // That alone is no change: nothing to save, and nothing to ask about.
  function openedIsUnchanged(model) {
    model.metadataChanged.connect((_, change) => {
      if (change.key === 'language_info' && !model.dirty) {
        queueMicrotask(() => { model.dirty = false; });
      }
    });
  }

  // A double click opens a cell's text and leaves the keys to commands, so that what is
  // typed makes and deletes cells. In the cell of a prediction one click is enough.
  function clickToPredict(notebook) {
    notebook.node.addEventListener('click', event => {
      const index = notebook.widgets.findIndex(c => c.node.contains(event.target));
      const cell = notebook.widgets[index];
      if (cell && cell.rendered && isPrediction(cell)
          && !event.target.closest('a') && getSelection().isCollapsed) {
        notebook.activeCellIndex = index;
        notebook.mode = 'edit';
      }
    });
    notebook.stateChanged.connect((_, change) => {
      if (change.name === 'mode' && notebook.mode === 'edit'
          && isPrediction(notebook.activeCell)) {
        writeAtTheEnd(notebook.activeCell.editor);
      }
    });
  }

  function isPrediction(cell) {
    return cell && (cell.model.getMetadata('tags') || []).includes('prediction');
  }

  // What is written is a paragraph of its own, below the words that ask for it.
  function writeAtTheEnd(editor) {
    const text = editor.model.sharedModel;
    if (!text.getSource().replace(PREDICTION, '')) {
      text.setSource(`${text.getSource()}\n\n`);
    }
    const line = editor.lineCount - 1;
    editor.setCursorPosition({line, column: editor.getLine(line).length});
    editor.focus();
  }

  // The prediction again, beside what the next code cell prints.
  function besideTheAnswer(notebook) {
    let said = '';
    for (const cell of notebook.widgets) {
      if (isPrediction(cell)) {
        said = cell.model.sharedModel.getSource().replace(PREDICTION, '').trim();
      } else if (cell.model.type === 'code') {
        show(said, cell.node.querySelector('.jp-Cell-outputWrapper'));
        said = '';
      }
    }
  }

  function show(said, outputs) {
    if (!outputs) {
      return;
    }
    let note = outputs.querySelector('.course-prediction');
    const answered = said && outputs.querySelector('.jp-OutputArea-child');
    if (!answered) {
      note && note.remove();
      return;
    }
    if (!note) {
      note = document.createElement('aside');
      note.className = 'course-prediction';
      note.setAttribute('aria-label', 'My prediction');
      outputs.append(note);
    }
    const text = `My prediction: ${said}`;
    if (note.textContent !== text) {
      note.textContent = text;
    }
  }

  // In the dark theme, a figure is a grey card instead of a white one. Progress bars
  // are written to standard error, which JupyterLab paints like an error.
  const STYLE = `
    [data-jp-theme-light="false"] .jp-RenderedImage img {
      filter: brightness(0.82); border-radius: 4px;
    }
    .jp-OutputArea-output[data-mime-type="application/vnd.jupyter.stderr"] {
      background: none;
    }
    .jp-Cell-outputWrapper:has(> .course-prediction) { flex-wrap: wrap; }
    .course-prediction {
      flex: 0 1 30%; box-sizing: border-box; margin: 4px 0 4px 12px; padding: 4px 8px;
      border-left: 4px solid var(--jp-brand-color1); white-space: pre-wrap;
      min-width: 12em; overflow-wrap: break-word; color: var(--jp-ui-font-color1);
      background: var(--jp-layout-color2); font-family: var(--jp-content-font-family);
      font-size: var(--jp-content-font-size1);
    }`;

  // JupyterLab shows a picture without a text alternative, whatever its metadata say.
  // A figure of this course is followed by its caption: that becomes the alternative.
  function describe(image) {
    const child = image.closest('.jp-OutputArea-child');
    const below = child && child.nextElementSibling;
    const caption = below && below.querySelector('.figure-caption');
    if (caption && image.alt !== caption.textContent) {
      image.alt = caption.textContent;
    }
  }

  function describeAll() {
    document.querySelectorAll('.jp-OutputArea-output.jp-RenderedImage img')
      .forEach(describe);
  }

  function afterEachChange(look) {
    let waiting = false;
    new MutationObserver(() => {
      if (!waiting) {
        waiting = true;
        requestAnimationFrame(() => { waiting = false; look(); });
      }
    }).observe(document.body, {childList: true, subtree: true});
  }

  const plugin = INotebookTracker => ({
    id: 'course:plugin',
    description: 'No mark of having been opened, room to predict, words for figures.',
    autoStart: true,
    requires: [INotebookTracker],
    activate: (app, tracker) => {
      const style = document.createElement('style');
      style.textContent = STYLE;
      document.head.append(style);
      tracker.widgetAdded.connect((_, panel) => {
        openedIsUnchanged(panel.context.model);
        clickToPredict(panel.content);
      });
      afterEachChange(() => {
        describeAll();
        tracker.forEach(panel => besideTheAnswer(panel.content));
      });
    },
  });

  let shared;
  const containers = window._JUPYTERLAB = window._JUPYTERLAB || {};
  containers['course'] = {
    init: scope => { shared = scope; },
    get: async () => {
      const [notebooks] = Object.values(shared['@jupyterlab/notebook']);
      const {INotebookTracker} = (await notebooks.get())();
      return () => ({__esModule: true, default: plugin(INotebookTracker)});
    },
  };
})();
