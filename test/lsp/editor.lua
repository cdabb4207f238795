-- Neovim (0.7 and newer) with incc-lsp, for test/unit/test_lsp_neovim.py.
--
--   nvim --headless -u NONE -i NONE -n -c "luafile test/lsp/editor.lua" -c "lua run('SCENARIO')"
--
-- The working folder has the files. What a scenario returns is written to result.json, an error to error.txt.

local PATIENCE = 100000 -- milliseconds
local messages, exits = {}, 0

vim.lsp.handlers["window/showMessage"] = function(_, params)
  table.insert(messages, params.message)
end

local function wait(what, condition)
  if not vim.wait(PATIENCE, condition, 20) then
    error("not in time: " .. what)
  end
end

local function folder(path)
  return { uri = vim.uri_from_fname(path), name = path }
end

local function start(settings, roots)
  local here = vim.fn.getcwd()
  local client = vim.lsp.start_client({
    name = "incc",
    cmd = { "incc-lsp" },
    root_dir = here,
    workspace_folders = vim.tbl_map(folder, roots or { here }),
    init_options = settings or { cores = { "skylake" } },
    on_exit = function()
      exits = exits + 1
    end,
  })
  wait("initialize", function()
    local found = vim.lsp.get_client_by_id(client)
    return found and found.initialized
  end)
  return client
end

local function open(client, file, options)
  vim.cmd("edit " .. (options or "") .. " " .. vim.fn.fnameescape(file))
  local buffer = vim.api.nvim_get_current_buf()
  vim.lsp.buf_attach_client(buffer, client)
  return buffer
end

-- Return the lines, from 0, and the texts of lenses once they meet a condition.
local function lenses(buffer, condition)
  local found
  wait("lenses of " .. vim.api.nvim_buf_get_name(buffer), function()
    local answers = vim.lsp.buf_request_sync(buffer, "textDocument/codeLens", {
      textDocument = vim.lsp.util.make_text_document_params(buffer),
    }, PATIENCE)
    found = {}
    for _, answer in pairs(answers or {}) do
      for _, lens in ipairs(answer.result or {}) do
        table.insert(found, { lens.range.start.line, lens.command.title })
      end
    end
    return #found > 0 and (not condition or condition(found))
  end)
  return found
end

-- Return the lines and messages of diagnostics once there are any that have a text.
local function diagnostics(buffer, text)
  local found
  wait("diagnostics with " .. text, function()
    found = {}
    for _, each in ipairs(vim.diagnostic.get(buffer)) do
      if each.message:find(text, 1, true) then
        table.insert(found, { each.lnum, each.message, each.severity == vim.diagnostic.severity.HINT })
      end
    end
    return #found > 0
  end)
  return found
end

local function exists(file)
  return vim.loop.fs_stat(file) ~= nil
end

local function touch(file)
  io.open(file, "w"):close()
end

local scenarios = {}

function scenarios.shown()
  local buffer = open(start(), "roots.c")
  local result = { lenses = lenses(buffer), diagnostics = diagnostics(buffer, "errno") }
  -- As by the user: Neovim shows lenses itself, and asks which action to do.
  vim.lsp.codelens.refresh()
  wait("lenses in the buffer", function()
    return #vim.lsp.codelens.get(buffer) > 0
  end)
  vim.ui.select = function(items, _, choose)
    result.actions = vim.tbl_map(function(item)
      return item[2].title
    end, items)
    choose(items[1])
  end
  vim.api.nvim_win_set_cursor(0, { 3, 4 })
  vim.lsp.buf.code_action()
  result.tried = diagnostics(buffer, "(tried ")
  wait("a message", function()
    return #messages > 0
  end)
  result.messages = messages
  return result
end

function scenarios.edits()
  local buffer = open(start(), "sum.c")
  local result = { first = lenses(buffer) }
  -- An edit while a compilation runs, which hangs as long as there is a file.
  touch("hang")
  vim.api.nvim_buf_set_lines(buffer, 0, 0, false, { "// one" })
  wait("a compilation", function()
    return exists("compiling")
  end)
  result.meanwhile = diagnostics(buffer, "chain")
  os.remove("hang")
  vim.api.nvim_buf_set_lines(buffer, 0, 0, false, { "// two" })
  result.edited = lenses(buffer)
  -- Text that does not compile.
  vim.api.nvim_buf_set_lines(buffer, 0, 0, false, { "int x = ;" })
  result.broken = lenses(buffer)
  vim.api.nvim_buf_set_lines(buffer, 0, 1, false, {})
  result.repaired = lenses(buffer)
  return result
end

function scenarios.encodings()
  local client = start()
  local result = {}
  for _, file in ipairs({ "latin 1.c", "crlf file.c" }) do
    local buffer = open(client, file, file:find("latin") and "++enc=latin1" or "")
    local first = lenses(buffer)
    vim.api.nvim_buf_set_lines(buffer, 1, 1, false, { "// größer" })
    result[file] = { first, lenses(buffer), vim.bo[buffer].fileencoding, vim.bo[buffer].fileformat }
  end
  return result
end

function scenarios.roots()
  local here = vim.fn.getcwd()
  local client = start({}, { here .. "/one", here .. "/the other" })
  return {
    one = lenses(open(client, "one/sum.c")),
    other = lenses(open(client, "the other/sum.c")),
  }
end

function scenarios.killed()
  local client = start()
  local buffer = open(client, "sum.c")
  local result = { first = lenses(buffer) }
  vim.loop.kill(vim.lsp.get_client_by_id(client).rpc.pid, "sigkill")
  wait("the end of the server", function()
    return exits == 1
  end)
  vim.lsp.buf_attach_client(buffer, start())
  result.second = lenses(buffer)
  return result
end

function run(name)
  local good, result = xpcall(scenarios[name], debug.traceback)
  vim.lsp.stop_client(vim.lsp.get_active_clients())
  local file = io.open(good and "result.json" or "error.txt", "w")
  file:write(good and vim.fn.json_encode(result) or result)
  file:close()
  vim.cmd("qall!")
end
