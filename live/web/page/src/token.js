// The form for the token keeps the state in the address.
const form = document.querySelector("form");
form.addEventListener("submit", event => {
  event.preventDefault();
  const token = new FormData(form).get("token");
  const state = location.hash;
  fetch(`/?token=${encodeURIComponent(token)}`, {redirect: "manual"}).then(() => {
    location.replace(`/${state}`);
    location.reload();
  });
});
