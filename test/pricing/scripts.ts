/** One short piece of text in many scripts, and what is no prose. */

/** Written with Latin letters, by language. */
export const latin: Readonly<Record<string, string>> = {
  English:
    'The ferry leaves at seven in the morning and carries both cars and bicycles. Whoever misses it has to wait until noon, because the second boat only runs in summer. We usually buy bread and cheese in the harbour and eat it on deck while the islands go by.',
  French:
    "Le bateau part à sept heures du matin et transporte des voitures ainsi que des vélos. Celui qui le manque doit attendre midi, car le second ne circule qu'en été. Nous achetons d'habitude du pain et du fromage au port.",
  German:
    'Die Fähre legt um sieben Uhr morgens ab und nimmt Autos und Fahrräder mit. Wer sie verpasst, muss bis zum Mittag warten, denn das zweite Schiff fährt nur im Sommer. Wir kaufen meistens Brot und Käse am Hafen.',
  Spanish:
    'El barco sale a las siete de la mañana y lleva tanto coches como bicicletas. Quien lo pierde tiene que esperar hasta el mediodía, porque el segundo solo navega en verano.',
  Vietnamese:
    'Chuyến phà rời bến lúc bảy giờ sáng và chở cả ô tô lẫn xe đạp. Ai lỡ chuyến thì phải chờ đến trưa, vì con tàu thứ hai chỉ chạy vào mùa hè.',
  Turkish:
    'Vapur sabah yedide kalkıyor ve hem otomobil hem bisiklet taşıyor. Kaçıran öğlene kadar beklemek zorunda, çünkü ikinci gemi yalnızca yazın çalışıyor.',
  Polish:
    'Prom odpływa o siódmej rano i zabiera zarówno samochody, jak i rowery. Kto się spóźni, musi czekać do południa, bo drugi statek kursuje tylko latem.',
  Finnish: 'Lautta lähtee aamulla seitsemältä ja kuljettaa sekä autoja että polkupyöriä. Joka myöhästyy, odottaa.',
  Swahili: 'Kivuko huondoka saa moja asubuhi na hubeba magari pamoja na baiskeli. Atakayechelewa lazima asubiri.',
};

/** By script. */
export const prose: Readonly<Record<string, string>> = {
  Cyrillic:
    'Паром отходит в семь часов утра и берёт на борт и машины, и велосипеды. Кто опоздал, ждёт до полудня, потому что второе судно ходит только летом.',
  Greek: 'Το πλοίο φεύγει στις επτά το πρωί και παίρνει αυτοκίνητα και ποδήλατα. Όποιος το χάσει περιμένει.',
  Arabic: 'تغادر العبارة في السابعة صباحا وتحمل السيارات والدراجات. ومن فاتته فعليه أن ينتظر حتى الظهر.',
  Hebrew: 'המעבורת יוצאת בשבע בבוקר ולוקחת גם מכוניות וגם אופניים. מי שמפספס אותה מחכה עד הצהריים.',
  Devanagari: 'नाव सुबह सात बजे निकलती है और गाड़ियाँ तथा साइकिलें दोनों ले जाती है। जो चूक जाए उसे रुकना पड़ता है।',
  Bengali: 'ফেরি সকাল সাতটায় ছাড়ে এবং গাড়ি ও সাইকেল দুটোই নেয়। যে ধরতে পারে না তাকে দুপুর পর্যন্ত অপেক্ষা করতে হয়।',
  Tamil: 'படகு காலை ஏழு மணிக்குப் புறப்படும், கார்களையும் மிதிவண்டிகளையும் ஏற்றும். தவறவிட்டால் காத்திருக்க வேண்டும்.',
  Telugu: 'పడవ ఉదయం ఏడు గంటలకు బయలుదేరుతుంది, కార్లను సైకిళ్లను తీసుకెళ్తుంది. తప్పినవారు ఎదురుచూడాలి.',
  Gujarati: 'હોડી સવારે સાત વાગ્યે નીકળે છે અને ગાડીઓ તથા સાયકલો લઈ જાય છે.',
  Kannada: 'ದೋಣಿ ಬೆಳಿಗ್ಗೆ ಏಳು ಗಂಟೆಗೆ ಹೊರಡುತ್ತದೆ ಮತ್ತು ಕಾರುಗಳನ್ನು ಸೈಕಲ್‌ಗಳನ್ನು ಒಯ್ಯುತ್ತದೆ.',
  Malayalam: 'ബോട്ട് രാവിലെ ഏഴു മണിക്ക് പുറപ്പെടും, കാറുകളും സൈക്കിളുകളും കൊണ്ടുപോകും.',
  Sinhala: 'බෝට්ටුව උදේ හතට පිටත් වේ. එය මෝටර් රථ සහ බයිසිකල් රැගෙන යයි.',
  Thai: 'เรือเฟอร์รี่ออกตอนเจ็ดโมงเช้าและบรรทุกทั้งรถยนต์และจักรยาน ใครพลาดก็ต้องรอจนถึงเที่ยง',
  Lao: 'ເຮືອອອກຕອນເຈັດໂມງເຊົ້າ ແລະ ບັນທຸກລົດກັບລົດຖີບ',
  Burmese: 'လှေသည် မနက်ခုနစ်နာရီတွင် ထွက်ပြီး ကားနှင့် စက်ဘီးများ တင်ဆောင်သည်။',
  Georgian: 'ბორანი დილის შვიდ საათზე გადის და მანქანებიც მიჰყავს და ველოსიპედებიც. ვინც დააგვიანებს, ელოდება.',
  Armenian: 'Լաստանավը մեկնում է առավոտյան ժամը յոթին և տանում է մեքենաներ ու հեծանիվներ։ Ով ուշանում է, սպասում է։',
  Ethiopic: 'ጀልባው ከጠዋቱ አንድ ሰዓት ላይ ይነሳል፤ መኪናዎችንና ብስክሌቶችን ይይዛል። ያመለጠው እስከ ቀትር ይጠብቃል።',
  Khmer: 'សាឡាងចេញដំណើរម៉ោងប្រាំពីរព្រឹក ហើយដឹកទាំងរថយន្តនិងកង់។ អ្នកណាមកយឺតត្រូវរង់ចាំ។',
  Tibetan: 'གྲུ་གཟིངས་ནི་ཞོགས་པ་ཆུ་ཚོད་བདུན་པར་འགྲོ། མི་ཚོས་ཉིན་གུང་བར་སྒུག་དགོས།',
  Chinese: '渡轮早上七点出发，汽车和自行车都可以上船。错过的人只能等到中午，因为第二班船只在夏天开。',
  Japanese: 'フェリーは朝七時に出て、車も自転車も乗せてくれます。乗り遅れた人は昼まで待つしかありません。',
  Korean: '배는 아침 일곱 시에 떠나며 자동차와 자전거를 모두 싣습니다. 놓치면 정오까지 기다려야 합니다.',
  Cherokee: 'ᏣᎳᎩ ᎦᏬᏂᎯᏍᏗ ᎠᏂᏫ ᎤᏂᏣᏘ',
  Linear: '𐀀𐀁𐀂 𐀃𐀄𐀅𐀆 𐀇𐀈𐀉',
  Cuneiform: '𒀀𒀁𒀂𒀃 𒀄𒀅𒀆 𒀇𒀈',
  Hieroglyphs: '𓀀𓀁𓀂𓀃𓀄 𓀅𓀆𓀇',
};

const BYTES = Buffer.from(Array.from({ length: 600 }, (_, index) => (index * 197 + (index * index) / 7) % 256));

/** By kind. */
export const others: Readonly<Record<string, string>> = {
  code: 'export function total(rows: Row[]): number {\n  let sum = 0;\n  for (const row of rows) {\n    if (row.isOpen) sum += row.amount * 100;\n  }\n  return sum;\n}\n',
  JSON: JSON.stringify({
    rows: [
      { id: 17, name: 'harbour', open: true },
      { id: 18, tags: ['a', 'b'], note: null },
    ],
  }),
  'indented JSON': JSON.stringify({ rows: [{ id: 17, name: 'harbour', at: { lat: 48.4, lon: 9.99 } }] }, null, 2),
  hex: BYTES.toString('hex'),
  'upper hex': BYTES.toString('hex').toUpperCase(),
  base64: BYTES.toString('base64'),
  digits: '31415926535897932384626433832795 2 71 828 1828 45904, 1.618',
  address: 'https://ferries.example/timetable/2026/summer?from=north-pier&to=island%202&bikes=true#noon',
  emoji: '😀🎉🚢 🌊🌊🌊 🧀🥖 🥹🫠',
  'joined emoji': '👩🏽‍💻👨‍👩‍👧‍👦🏳️‍🌈 👍🏿👍🏻 🇩🇪🇫🇷🇯🇵',
  'mathematical letters': '𝓗𝓮𝓵𝓵𝓸 𝔴𝔬𝔯𝔩𝔡',
  spaces: ' '.repeat(500),
  tabs: '\t'.repeat(200),
  'line feeds': '\n'.repeat(200),
  'carriage returns': '\r'.repeat(200),
  'mixed blanks': ' \t\n \r\t \r\n\n \t\t \r  \n'.repeat(20),
  indentation: 'a\n    b\n        c\n\t\td\n\n\n    e\n',
  controls: String.fromCharCode(...Array(32).keys()).repeat(10),
  ruler: `${'-'.repeat(80)}\n${'=#'.repeat(40)}\n${'~'.repeat(80)}\n`,
  signs: '!@#$%^&*()_+{}|:"<>?[];\',./`~'.repeat(8),
  'letters and spaces': 'a b c d e f g q x z '.repeat(20),
  'alternating cases': 'aBcDeFgHiJkLmNoPqRsTuVwXyZ'.repeat(8),
  'no vowels': 'qzxjkvwqxzjvkqwzxvjq'.repeat(8),
};
