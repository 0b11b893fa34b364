/** The service's icon: a toll barrier with a coin at its post. */
export const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64" role="img" aria-label="Turnpike">
<rect width="64" height="64" rx="14" fill="#17324d"/>
<rect x="10" y="22" width="9" height="32" rx="2" fill="#f4f1e8"/>
<g transform="rotate(-24 15 26)">
<rect x="15" y="21" width="44" height="9" rx="2" fill="#f4f1e8"/>
<path d="M23 21h7l-4 9h-7zM37 21h7l-4 9h-7zM51 21h7l-4 9h-7z" fill="#e4572e"/>
</g>
<circle cx="44" cy="44" r="11" fill="#f2b134"/>
<circle cx="44" cy="44" r="7.5" fill="none" stroke="#17324d" stroke-width="2"/>
<path d="M44 39v10" stroke="#17324d" stroke-width="2.5" stroke-linecap="round"/>
</svg>
`;
