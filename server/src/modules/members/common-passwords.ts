/**
 * The most common passwords of at least 12 characters in published lists, in lower case without punctuation. Shorter ones are refused by
 * their length.
 */
export const COMMON_PASSWORDS: ReadonlySet<string> = new Set(
  `123456789012 1234567890123 12345678901234 123456789abc 1234567890ab 1234567891011 123412341234 123123123123 121212121212
  111111111111 000000000000 112233445566 123456123456 012345678910 098765432109 987654321098 0987654321ab 147258369147 147852369147
  1q2w3e4r5t6y 1q2w3e4r5t6y7u 1qaz2wsx3edc 1qaz2wsx3edc4rfv q1w2e3r4t5y6 qazwsxedcrfv qwertyuiop12 qwertyuiop123 qwertyuiop1234
  qwertyuiopas qwertyuiopasdf qwertyuiopasdfghjkl qwertyuiopasdfghjklzxcvbnm qwerty123456 qwerty1234567 qwerty12345678 qwertyqwerty
  asdfghjkl123 asdfghjklzxcvbnm zxcvbnm12345 zxcvbnmasdfghjkl abcdefghijkl abcdefghijklm abcdefghijklmnop abcdefghijklmnopqrstuvwxyz
  abc123abc123 abcd1234abcd abcd12345678 abcdef123456 a1b2c3d4e5f6 aa1234567890 password1234 password12345 password123456
  password1234567 password12345678 password123456789 passwordpassword password2024 password2025 password2026 passw0rd1234
  p4ssw0rd1234 p4ssword1234 mypassword12 mypassword123 mypassword1234 thisismypassword changeme1234 changeme12345 changemechangeme
  changeme2024 changeme2025 changeme2026 letmeinletmein letmein12345 letmein123456 welcome12345 welcome123456 welcomewelcome
  welcome2024! administrator administrator1 administrator123 admin1234567 admin12345678 admin123456789 adminadminadmin admin1admin1
  adminpassword adminadmin123 superadmin123 root12345678 rootrootroot rootpassword testtesttest test12345678 test123456789
  testpassword testing12345 testing123456 iloveyou1234 iloveyou12345 iloveyouiloveyou iloveyousomuch iloveyouforever monkey123456
  dragon123456 sunshine1234 sunshine12345 princess1234 princess12345 football1234 football12345 baseball1234 superman1234
  batman123456 master123456 shadow123456 michael12345 charlie12345 computer1234 internet1234 trustno1trustno1 whatever1234
  starwars1234 chocolate123 correcthorsebatterystaple correcthorse letmeinplease opensesame12 secret123456 secretsecret secretpassword
  summer202412 summer202512 summer202612 winter202412 winter202512 winter202612 spring202512 autumn202512 liverpool123
  liverpoolfc1 manchester12 manchesterunited chelsea12345 arsenal12345 barcelona123 australia123 australia1234 melbourne123 brisbane1234
  qwer1234qwer qwer1234asdf asdf1234asdf zaq12wsxcde3 zaq1zaq1zaq1 qweasdzxc123 qweasdzxcqwe 1234qwerasdf 1234qwer1234 123qweasdzxc
  123456qwerty 123456abcdef 123456789qwe 123456789asd 12345qwertyui 1234567890qw 1234567890qwertyuiop qqqqqqqqqqqq aaaaaaaaaaaa`
    .split(/\s+/)
    .map((password) => password.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '')),
)
